"""Checks generated infrastructure with third-party tools.

Usage: check.py FOLDER WHEEL. The folder contains NAME.yaml (CloudFormation), NAME.tf (Terraform) and NAME.iam.json (policies by pattern),
the wheel contains the bindings of Terraform's AWS provider. cfn-lint checks the templates against the vendor's schemas, terraform.py
checks Terraform files against the provider's schema, and parliament checks the policies against IAM's actions, resources and conditions.
"""

import json
import subprocess
import sys
from pathlib import Path

from parliament import analyze_policy_string

import terraform
from provider import Provider

def cloudformation(file):
    ran = subprocess.run([str(Path(sys.executable).parent / "cfn-lint"), str(file)], capture_output=True, text=True)
    return [ran.stdout.strip() or ran.stderr.strip()] if ran.returncode else []


# DynamoDB's condition keys apply to indexes too, but parliament's data lacks that for some actions. It also requires a comment where a region
# or an account is a wildcard.
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


def knows_faults(provider):
    """Verifies the checker itself: it must find exactly the faults of faults.tf."""
    here = Path(__file__).parent
    found = terraform.check(here / "faults.tf", provider)
    expected = (here / "faults.txt").read_text().splitlines()
    missed = [f"not found: {fault}" for fault in expected if fault not in found]
    return missed + [f"found besides: {fault}" for fault in found if fault not in expected]


def report(name, faults):
    print(f"{'FAILED' if faults else 'ok':6} {name}")
    for fault in faults:
        print(f"       {fault}")
    return bool(faults)


def main(folder, wheel):
    provider = Provider(wheel)
    failed = report(f"faults.tf, against hashicorp/aws {provider.version}", knows_faults(provider))
    checks = ((".yaml", cloudformation), (".tf", lambda file: terraform.check(file, provider)), (".iam.json", iam))
    for suffix, check in checks:
        files = sorted(folder.glob(f"*{suffix}"))
        if not files:
            sys.exit(f"{folder} has no {suffix} file")
        for file in files:
            failed = report(file.name, check(file)) or failed
    sys.exit(1 if failed else 0)


main(Path(sys.argv[1]), Path(sys.argv[2]))
