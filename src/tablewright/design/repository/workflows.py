"""The workflows of a repository for GitHub Actions: schemas are validated, plans shown, environments applied.

The first environment is applied with each change of the main branch, the others when someone starts the workflow: who
has to approve it is a rule of the environment on GitHub.
"""

from collections.abc import Sequence

from tablewright.design.deployment import Deployment
from tablewright.design.repository.templates import filled, template

_ON_PUSH = """  push:
    branches: [main]
    paths: ["schemas/**", "terraform/modules/**", "terraform/@environment@/**"]
  workflow_dispatch:"""
_BY_HAND = "  workflow_dispatch:"


def workflows(deployments: Sequence[Deployment]) -> dict[str, str]:
    """The text of each workflow, by its file name."""
    applied = {
        f"terraform-apply-{each.environment.name}.yml": _apply(each, is_first=at == 0)
        for at, each in enumerate(deployments)
    }
    return {
        "validate-schemas.yml": template("validate-schemas.yml"),
        "terraform-plan.yml": _plan(deployments),
        **applied,
    }


def _init() -> str:
    return template("init.yml").rstrip("\n")


def _plan(deployments: Sequence[Deployment]) -> str:
    matrix = "\n".join(
        f"          - environment: {each.environment.name}\n            region: {each.environment.region}"
        for each in deployments
    )
    said = {"@matrix@": matrix, "@init@": _init(), "@system@": deployments[0].name}
    return filled("terraform-plan.yml", said)


def _apply(deployment: Deployment, *, is_first: bool) -> str:
    said = {
        "@init@": _init(),
        "@trigger@": _ON_PUSH if is_first else _BY_HAND,
        "@when@": "With each change of the main branch." if is_first else "Started by hand.",
        "@system@": deployment.name,
        "@environment@": deployment.environment.name,
        "@region@": deployment.environment.region,
    }
    return filled("terraform-apply.yml", said)
