"""Checks Terraform files against the schema of the AWS provider: every resource, data source, argument and nested block, required and
unique arguments, types of values, and every reference.

For tables, this also covers checks that the provider makes in code: the declared attributes are exactly those that keys name, and values
such as `PAY_PER_REQUEST` are in the service's model.
"""

import json
import re
from dataclasses import dataclass, field

import botocore.session
import hcl2

from provider import META

# The enumeration of the service's model that contains the values of an argument.
WORDS = {
    "billing_mode": "BillingMode", "stream_view_type": "StreamViewType", "table_class": "TableClass", "projection_type": "ProjectionType",
    "key_type": "KeyType", "type": "ScalarAttributeType",
}


def clean(name):
    return name.strip('"')


def named(block):
    """Returns the arguments and blocks of a block by name."""
    return {clean(name): value for name, value in block.items() if not name.startswith("__")}


def is_block(value):
    return isinstance(value, list) and any(isinstance(entry, dict) and entry.get("__is_block__") for entry in value)


def texts(blocks, name):
    """Returns the string literals of an argument in any of the blocks."""
    return {clean(block[name]) for block in blocks if kind_of(block.get(name)) == "string"}


def kind_of(value):
    """Returns the type of a literal; None for expressions."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str) and value.startswith('"'):
        return "string"
    return None


@dataclass
class File:
    """One file and its faults."""

    document: dict
    provider: object
    faults: list = field(default_factory=list)

    def check(self):
        self.check_provider()
        for mode in ("resource", "data"):
            for kind, label, body in self.bodies(mode):
                module = self.provider.module(mode, kind)
                if module is None:
                    self.faults.append(f"the provider has no {mode} {kind}")
                    continue
                classes, name = module
                self.check_block(f"{kind}.{label}", named(body), classes, classes[name], META)
                if kind == "aws_dynamodb_table":
                    self.check_table(f"{kind}.{label}", named(body))
        self.check_references()
        return self.faults

    def bodies(self, mode):
        for entry in self.document.get(mode, []):
            for kind, labels in named(entry).items():
                for label, body in named(labels).items():
                    yield kind, label, body

    def check_provider(self):
        """Checks that the required version is not newer than the schema, which must describe the version that is used."""
        wanted = re.findall(r'"version": "\\">= ([\d.]+)\\""', to_text(self.document))
        if not wanted:
            self.faults.append("no version of the provider is asked for")
        for version in wanted:
            if numbers(version) > numbers(self.provider.version):
                self.faults.append(f"it asks for {version}, the schema is that of {self.provider.version}")

    def check_block(self, place, block, classes, schema, others=frozenset()):
        for name, argument in schema.arguments.items():
            if argument.required and name not in block:
                self.faults.append(f"{place}: {name} is missing")
        for name, value in block.items():
            argument = schema.arguments.get(name)
            if argument is not None:
                self.check_argument(f"{place}.{name}", argument, value, classes)
            elif name not in others:
                self.faults.append(f"{place}: no argument {name}")

    def check_argument(self, place, argument, value, classes):
        if argument.block != is_block(value):
            self.faults.append(f"{place} is {'a block' if argument.block else 'an argument'}")
        elif argument.block:
            if not argument.many and len(value) > 1:
                self.faults.append(f"{place} may stand once")
            for entry in value:
                self.check_block(place, named(entry), classes, classes[argument.kind])
        elif argument.many != isinstance(value, list) and not is_expression(value):
            self.faults.append(f"{place} is {'a list' if argument.many else 'one value'}")
        else:
            for entry in value if isinstance(value, list) else [value]:
                if kind_of(entry) not in (None, argument.kind) and argument.kind != "any":
                    self.faults.append(f"{place} is a {argument.kind}, not {entry}")

    def check_table(self, place, table):
        blocks = [table, *map(named, table.get("global_secondary_index", []) + table.get("local_secondary_index", []))]
        attributes = [named(entry) for entry in table.get("attribute", [])]
        elements = [named(entry) for block in blocks for entry in block.get("key_schema", [])]
        keys = texts(blocks, "hash_key") | texts(blocks, "range_key") | texts(elements, "attribute_name")
        declared = texts(attributes, "name")
        self.faults += [f"{place}: the key {name} is no attribute" for name in sorted(keys - declared)]
        self.faults += [f"{place}: the attribute {name} is in no key" for name in sorted(declared - keys)]
        for block in [*blocks, *attributes, *elements]:
            self.check_words(place, block)

    def check_words(self, place, block):
        for name, shape in WORDS.items():
            value = block.get(name)
            if kind_of(value) == "string" and clean(value) not in service_words(shape):
                self.faults.append(f"{place}: {name} is not one of {', '.join(service_words(shape))}: {value}")

    def check_references(self):
        text = to_text(self.document)
        variables = {name for entry in self.document.get("variable", []) for name in named(entry)}
        self.faults += [f"no variable {name}" for name in sorted(set(re.findall(r"\bvar\.(\w+)", text)) - variables)]
        for mode, pattern in (("data", r"\bdata\.(\w+)\.(\w+)\.(\w+)"), ("resource", r"(?<!data\.)\b(aws_\w+)\.(\w+)\.(\w+)")):
            there = {(kind, label) for kind, label, _ in self.bodies(mode)}
            for kind, label, export in sorted(set(re.findall(pattern, text))):
                module = self.provider.module(mode, kind)
                if (kind, label) not in there:
                    self.faults.append(f"no {mode} {kind}.{label}")
                elif module is not None and export not in module[0][module[1]].exports:
                    self.faults.append(f"{mode} {kind} has no attribute {export}")


def is_expression(value):
    return isinstance(value, str) and not value.startswith('"')


def to_text(document):
    return json.dumps(document)


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def service_words(shape):
    model = botocore.session.get_session().get_service_model("dynamodb")
    return model.shape_for(shape).enum


def check(file, provider):
    with file.open() as text:
        return File(hcl2.load(text), provider).check()
