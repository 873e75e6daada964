"""The repository of a system's tables (CP-52): schemas, Terraform, workflows, tests, as {relative path: text}. Pure.

    repository(deployments)       what is to be written; one deployment for each environment, production last
    differences(tree, directory)  what of it is not so there; write(tree, directory) makes it so (files.py)

Must hold: the same design prints the same bytes. Every file but a schema begins with a mark that names the design it
was printed from. Elsewhere: the schemas (../schemas), Terraform (../terraform).
"""

from collections.abc import Sequence
from importlib import resources

from tablewright.design.deployment import Deployment
from tablewright.design.repository.files import (
    AnotherTree,
    Differences,
    NotOurs,
    differences,
    marked,
    write,
)
from tablewright.design.repository.readmes import repository_readme, schema_readme
from tablewright.design.repository.templates import template
from tablewright.design.repository.workflows import workflows
from tablewright.design.schemas import schema_of, schema_path, schema_text
from tablewright.design.terraform import environment_files, module_files

__all__ = ["AnotherTree", "Differences", "NotOurs", "differences", "repository", "write"]


def repository(deployments: Sequence[Deployment]) -> dict[str, str]:
    """Every file of the repository, by its path."""
    name, found = deployments[0].name, _schemas(deployments)
    found |= {f"terraform/modules/{path}": text for path, text in module_files(deployments).items()}
    found["terraform/modules/dynamodb_table/README.md"] = template("dynamodb_table.md")
    for each in deployments:
        here = f"terraform/{each.environment.name}"
        found |= {f"{here}/{path}": text for path, text in environment_files(each).items()}
    found |= {f".github/workflows/{path}": text for path, text in workflows(deployments).items()}
    for test in ("test_schemas.py", "test_terraform.py"):
        found[f"tests/{test}"] = template(test)
    script = resources.files("tablewright.design.schemas").joinpath("validate_schemas.py")
    found["scripts/validate_schemas.py"] = script.read_text("utf-8")
    return {path: marked(path, text, name) for path, text in sorted(found.items())}


def _schemas(deployments: Sequence[Deployment]) -> dict[str, str]:
    """The schemas, a README for each, and that of the repository, which lists them."""
    first = deployments[0]
    schemas = [(schema_path(first, table), schema_of(deployments, table)) for table in first.tables]
    found = {"README.md": repository_readme(deployments, schemas)}
    for path, schema in schemas:
        found[path] = schema_text(schema)
        found[f"{path.rpartition('/')[0]}/README.md"] = schema_readme(path, schema)
    return found
