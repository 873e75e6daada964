"""What is in a repository: the tree of the document for the portal, the same shape for every design."""

import re

from tests.design.repository.pets import deployment

from tablewright.design.repository import repository
from tablewright.mapping.deployment import deployment_of
from tablewright.systems.portal.design import PORTAL

PORTAL_FILES = repository([deployment_of("portal", (PORTAL,), each) for each in PORTAL.environments.values()])
TABLES = {"tenants": "tenant", "products": "product", "campaigns": "campaign"}
# The document has three tables; we have the desk, and what running them needs.
FURTHER_TABLES = {"portal_desk", "stream_consumers", "receipts"}
# Subjects for which the document's tree has no file.
SUBJECTS = {"alarms.tf", "audit.tf", "budget.tf", "network.tf", "roles.tf"}


def test_cp_52_the_portal_has_every_file_of_the_document_and_the_others_are_accounted_for() -> None:
    modules = [f"terraform/modules/{name}" for name in ("dynamodb_table", "gsi", "backup")]
    environments = [f"terraform/{name}" for name in ("dev", "sit", "prod")]
    files = ("main.tf", "variables.tf", "outputs.tf")
    wanted = {
        *(f"schemas/{table}/{name}.schema.json" for table, name in TABLES.items()),
        *(f"schemas/{table}/README.md" for table in TABLES),
        *(f"{place}/{name}" for place in (*modules, *environments) for name in files),
        *(f"{place}/{place.rpartition('/')[2]}.tfvars" for place in environments),
        "terraform/modules/dynamodb_table/README.md",
        ".github/workflows/validate-schemas.yml",
        ".github/workflows/terraform-plan.yml",
        *(f".github/workflows/terraform-apply-{name}.yml" for name in ("dev", "sit", "prod")),
        "tests/test_schemas.py",
        "tests/test_terraform.py",
        "scripts/validate_schemas.py",
        "README.md",
    }
    assert wanted <= PORTAL_FILES.keys()
    further = {
        f"schemas/{name}/{file}" for name in FURTHER_TABLES for file in ("README.md", f"{name}.schema.json")
    }
    further |= {f"{place}/{name}" for place in environments for name in SUBJECTS}
    assert PORTAL_FILES.keys() - wanted == further


def test_cp_d37_every_table_that_is_named_is_declared() -> None:
    for name in ("dev", "sit", "prod"):
        files = {path: text for path, text in PORTAL_FILES.items() if path.startswith(f"terraform/{name}/")}
        declared = set(re.findall(r'^module "(\w+)"', files[f"terraform/{name}/main.tf"], re.MULTILINE))
        used = {each for text in files.values() for each in re.findall(r"module\.(\w+)\.", text)}
        assert used - declared - {"path"} == set()


def test_a_table_is_said_once() -> None:
    for path, text in PORTAL_FILES.items():
        if path.startswith("terraform/") and "/modules/" not in path:
            assert "EmailIndex" not in text or path.endswith("roles.tf"), (
                path
            )  # roles name what may be queried
            assert "aws_dynamodb_table" not in text, path


def test_every_environment_has_a_workflow_and_only_the_first_is_applied_on_a_push() -> None:
    files = repository([deployment(environment=name) for name in ("test", "live")])
    test, live = (files[f".github/workflows/terraform-apply-{name}.yml"] for name in ("test", "live"))
    assert '"terraform/test/**"' in test
    assert "push:" in test
    assert "push:" not in live
    assert "environment: live" in live
    plan = files[".github/workflows/terraform-plan.yml"]
    assert "- environment: test\n            region: eu-west-1\n          - environment: live\n" in plan
    assert not any(re.search(r"@[a-z]+@", text) for text in files.values())


def test_the_state_of_terraform_is_never_left_on_a_runner() -> None:
    for path, text in PORTAL_FILES.items():
        if "terraform-" in path and path.endswith(".yml"):
            assert text.index('backend "s3" {}') < text.index("terraform init") < text.index("terraform plan")
