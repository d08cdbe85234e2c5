"""Schema of Terraform's AWS provider, read from its typed bindings.

`cdktn-provider-aws` is generated from the output of `terraform providers schema`: a class for each resource, data source and nested block,
with its arguments. This module parses the wheel without installing or running it. The annotations of a class give its arguments, their
types, and which of them are required or blocks.
"""

import ast
import re
import zipfile
from dataclasses import dataclass
from functools import cached_property, lru_cache

PACKAGE = "cdktn_provider_aws"
# Meta-arguments, which Terraform itself accepts in every resource.
META = {"depends_on", "count", "for_each", "provider", "lifecycle", "provisioner", "connection"}
# Further parameters of the constructors that are not arguments of the provider.
BINDING = META | {"provisioners"}


@dataclass(frozen=True)
class Argument:
    """An argument or a nested block."""

    kind: str  # "string", "number", "bool", "map", "any", or the class of a nested block
    required: bool
    many: bool
    block: bool


class Class:
    """A resource, a data source or a nested block: its arguments and its exported attributes."""

    def __init__(self, node):
        self.node = node

    @cached_property
    def arguments(self):
        start = next(item for item in self.node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
        described = ast.get_docstring(start) or ""
        blocks = set(re.findall(r":param (\w+): \w+ block\.", described))
        pairs = zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True)
        return {
            argument.arg: argument_of(argument.annotation, default is None, argument.arg in blocks)
            for argument, default in pairs
            if argument.arg not in BINDING
        }

    @cached_property
    def exports(self):
        return {item.name for item in self.node.body if isinstance(item, ast.FunctionDef) and item.decorator_list}


def argument_of(annotation, required, block):
    text = ast.unparse(annotation)
    nested = [name for name in re.findall(r"'(\w+)'", text) if not name.startswith("_")]
    many = "Sequence[" in text
    if nested:
        return Argument(nested[0], required, many, block)
    kinds = {"builtins.str": "string", "jsii.Number": "number", "builtins.bool": "bool"}
    kind = next((kind for word, kind in kinds.items() if word in text), "any")
    return Argument("map" if "Mapping[" in text else kind, required, many, block)


class Provider:
    """The provider of one wheel of bindings."""

    def __init__(self, wheel):
        self.wheel = zipfile.ZipFile(wheel)
        described = next(name for name in self.wheel.namelist() if name.endswith("/METADATA"))
        text = self.wheel.read(described).decode()
        self.version = re.search(r"hashicorp/aws provider version ([\d.]+)", text).group(1)

    @lru_cache
    def module(self, mode, kind):
        """Returns the classes of a resource or data source by name, and the name of its main class; None if the provider does not have it."""
        name = kind if mode == "data" else kind.removeprefix("aws_")
        path = f"{PACKAGE}/{'data_' + name if mode == 'data' else name}/__init__.py"
        if path not in self.wheel.namelist():
            return None
        tree = ast.parse(self.wheel.read(path))
        nodes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        return {node.name: Class(node) for node in nodes}, nodes[0].name
