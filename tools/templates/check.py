"""Looks at generated infrastructure with the tools of the trade.

Usage: check.py FOLDER; the folder holds NAME.yaml (CloudFormation), NAME.tf (Terraform) and NAME.iam.json (policies by pattern).
CloudFormation templates are read by cfn-lint, which knows the vendor's schemas; Terraform files are parsed, and their blocks and arguments
held against those the AWS provider documents for aws_dynamodb_table; policies are read by parliament, which knows IAM's actions,
resources and conditions.
"""

import json
import subprocess
import sys
from pathlib import Path

import hcl2
from parliament import analyze_policy_string

INDEX = {"name", "hash_key", "range_key", "projection_type", "non_key_attributes", "read_capacity", "write_capacity", "key_schema"}
TABLE = {
    "name", "billing_mode", "read_capacity", "write_capacity", "hash_key", "range_key", "stream_enabled", "stream_view_type",
    "table_class", "deletion_protection_enabled", "attribute", "global_secondary_index", "local_secondary_index", "ttl",
    "point_in_time_recovery", "server_side_encryption",
}
BLOCKS = {
    "attribute": {"name", "type"},
    "global_secondary_index": INDEX,
    "local_secondary_index": {"name", "range_key", "projection_type", "non_key_attributes"},
    "ttl": {"attribute_name", "enabled"},
    "point_in_time_recovery": {"enabled"},
    "server_side_encryption": {"enabled", "kms_key_arn"},
}
REQUIRED = {"name", "billing_mode", "hash_key", "attribute"}


def clean(name):
    return name.strip('"')


def names(block):
    return {clean(name) for name in block if not name.startswith("__")}


def cloudformation(file):
    ran = subprocess.run([str(Path(sys.executable).parent / "cfn-lint"), str(file)], capture_output=True, text=True)
    return [ran.stdout.strip() or ran.stderr.strip()] if ran.returncode else []


def terraform(file):
    faults = []
    with file.open() as text:
        document = hcl2.load(text)
    for resource in document.get("resource", []):
        for kind, tables in resource.items():
            if clean(kind) != "aws_dynamodb_table":
                faults.append(f"{kind} is no table")
                continue
            for label, table in tables.items():
                table = {clean(name): value for name, value in table.items()}
                faults += [f"{label}: no argument {name}" for name in names(table) - TABLE]
                faults += [f"{label}: {name} is missing" for name in REQUIRED - names(table)]
                for name, known in BLOCKS.items():
                    for block in table.get(name, []):
                        faults += [f"{label}: {name} has no argument {extra}" for extra in names(block) - known]
                keys = {clean(attribute["name"]) for attribute in table["attribute"]}
                if clean(table["hash_key"]) not in keys:
                    faults.append(f"{label}: its hash key is no attribute")
    return faults


# DynamoDB's own condition keys hold for indexes too, which parliament's data does not say of every action; and it wants a comment where a
# region or an account is left open.
IGNORED = {"RESOURCE_STAR", "UNKNOWN_CONDITION_FOR_ACTION"}


def iam(file):
    faults = []
    for pattern, policy in json.loads(file.read_text()).items():
        analyzed = analyze_policy_string(json.dumps(policy))
        faults += [f"{pattern}: {finding.issue} {finding.detail}" for finding in analyzed.findings if finding.issue not in IGNORED]
        size = len(json.dumps(policy, separators=(",", ":")))
        if size > 6144:
            faults.append(f"{pattern}: {size} characters, more than a managed policy may have")
    return faults


def main(folder):
    failed = False
    for suffix, check in ((".yaml", cloudformation), (".tf", terraform), (".iam.json", iam)):
        files = sorted(folder.glob(f"*{suffix}"))
        if not files:
            sys.exit(f"{folder} has no {suffix} file")
        for file in files:
            faults = check(file)
            print(f"{'FAILED' if faults else 'ok':6} {file.name}")
            for fault in faults:
                print(f"       {fault}")
            failed = failed or bool(faults)
    sys.exit(1 if failed else 0)


main(Path(sys.argv[1]))
