"""Policies as data: what a statement says, of which tables, and how it is written down for IAM. Pure.

Targets are named, not spelled: a document on paper has ARNs, Terraform has references to what it makes itself.
Elsewhere: which statements there are (policies.py), in HCL (terraform/roles.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tablewright.design.deployment import Deployment


@dataclass(frozen=True, slots=True)
class TableTarget:
    """A table, or what lies under it (`/index/GSI1`), or is called after it (`-restored*`); its replica in a region."""

    table: str
    under: str = ""
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Vault:
    """Where backups are kept: here, or where they are copied to."""

    copy: bool = False


@dataclass(frozen=True, slots=True)
class RecoveryPoints:
    """The backups that a vault keeps, in its region; their names are Amazon's own."""

    region: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """The bucket of objects, or with `/*` what is in it."""

    under: str = ""


Target: TypeAlias = TableTarget | Vault | RecoveryPoints | Bucket | Literal["*"]
Arn: TypeAlias = Callable[[Target], Any]


@dataclass(frozen=True, slots=True)
class Statement:
    sid: str
    actions: tuple[str, ...]
    targets: tuple[Target, ...]
    effect: Literal["Allow", "Deny"] = "Allow"
    condition: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Role:
    """A role: what it is for, what it may do, and which services of Amazon's take it on."""

    name: str
    about: str
    statements: tuple[Statement, ...]
    assumed_by: tuple[str, ...] = ()


_UNENCRYPTED = {"Bool": {"aws:SecureTransport": "false"}}
ENCRYPTED = Statement("NeverInTheClear", ("dynamodb:*",), ("*",), "Deny", _UNENCRYPTED)


def document(role: Role, arn: Arn) -> dict[str, Any]:
    """A policy as IAM reads it; `arn` says how a target is written."""
    return {"Version": "2012-10-17", "Statement": [statement_json(each, arn) for each in role.statements]}


def statement_json(statement: Statement, arn: Arn) -> dict[str, Any]:
    said: dict[str, Any] = {
        "Sid": statement.sid,
        "Effect": statement.effect,
        "Action": list(statement.actions),
        "Resource": [arn(target) for target in statement.targets],
    }
    if statement.condition:
        said["Condition"] = {test: dict(keys) for test, keys in statement.condition.items()}
    return said


def plain_arns(deployment: Deployment, account: str) -> Arn:
    """Targets as they are called at Amazon, in an account."""
    environment = deployment.environment

    def arn(target: Target) -> str:
        match target:
            case TableTarget(table, under, region):
                name = deployment.physical(table)
                return f"arn:aws:dynamodb:{region or environment.region}:{account}:table/{name}{under}"
            case RecoveryPoints(region):
                return f"arn:aws:backup:{region}:{account}:recovery-point:*"
            case Vault(copy):
                backups = environment.backups
                assert backups is not None  # a vault is named where there are backups
                where = backups.copy_to if copy else environment.region
                return f"arn:aws:backup:{where}:{account}:backup-vault:{vault_name(deployment, copy=copy)}"
            case Bucket(under):
                return f"arn:aws:s3:::{bucket_name(deployment, account)}{under}"
            case everything:
                return everything

    return arn


def bucket_name(deployment: Deployment, account: str) -> str:
    """What the bucket of objects is called; names of buckets are of the whole world, so the account is in it."""
    return f"{deployment.title}-objects-{account}"


def vault_name(deployment: Deployment, *, copy: bool) -> str:
    """What a vault is called; that of the copies says so, since names are of a region."""
    backups = deployment.environment.backups
    name = backups.vault if backups is not None else deployment.title
    return f"{name}-copies" if copy else name
