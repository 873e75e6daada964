"""Each role of a deployment against each pattern and verb of its designs: what the IAM documents allow, and what they
should.

    for row in role_access(deployment).rows: print(row.name, row.cells)

The requests are made of the design, with keys as its templates write them; the documents decide (iam_evaluation.py).
The service may do all that is declared. A role that patterns name may make those requests, and a principal with tags
those of its own partition. Every other role may do none of it; what is not declared (a Scan of a table that is not
read whole, a Query of an index that no pattern names) is for no role at all.
Must hold: an unexpected decision is a finding, whichever way; IAM does not see sort keys, so two patterns of one
partition key are one right (`shared`), and that is not a finding.
Elsewhere: the documents (policies.py, iam.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from tablewright.design.deployment import Deployment
from tablewright.design.iam import document, plain_arns
from tablewright.design.iam_evaluation import AccessRequest, allows
from tablewright.design.patterns import Plan
from tablewright.design.policies import roles
from tablewright.design.tables import Table
from tablewright.design.templates import Template

Decision: TypeAlias = Literal["allowed", "denied", "shared", "TOO MUCH", "MISSING"]
SERVICE = "service"
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "get": ("GetItem",),
    "create": ("PutItem",),
    "put": ("PutItem",),
    "change": ("PutItem", "UpdateItem"),
    "update": ("UpdateItem",),
    "upsert": ("UpdateItem", "PutItem"),
    "delete": ("DeleteItem",),
    "check": ("ConditionCheckItem",),
}
_ACCOUNT = "123456789012"


@dataclass(frozen=True, slots=True)
class Access:
    """Something that a design does, or does not declare: the requests it takes. `roles`: those it is for."""

    name: str
    roles: frozenset[str]
    requests: tuple[AccessRequest, ...]
    is_declared: bool = True


@dataclass(frozen=True, slots=True)
class AccessRow:
    """An access, and the decision for each role."""

    access: Access
    cells: Mapping[str, Decision]

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(role for role, cell in self.cells.items() if cell in ("TOO MUCH", "MISSING"))


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """The matrix. `without_policy`: roles that patterns name and IAM cannot have, as a partition may be anything."""

    roles: tuple[str, ...]
    rows: tuple[AccessRow, ...]
    without_policy: tuple[str, ...]

    @property
    def findings(self) -> tuple[AccessRow, ...]:
        return tuple(row for row in self.rows if row.findings)


def role_access(
    deployment: Deployment, documents: Mapping[str, Mapping[str, Any]] | None = None
) -> RoleAccess:
    """The decisions of these documents by role; by default of those that are generated."""
    arn = plain_arns(deployment, _ACCOUNT)
    given = documents or {role.name: document(role, arn) for role in roles(deployment)}
    named = {name for design in deployment.every_design for plan in design.plans for name in plan.roles}
    accesses = tuple(_accesses(deployment))
    rows = tuple(
        AccessRow(each, {role: _decision(deployment, accesses, each, role, given[role]) for role in given})
        for each in accesses
    )
    return RoleAccess(tuple(given), rows, tuple(sorted(named - given.keys())))


def _decision(
    deployment: Deployment, accesses: tuple[Access, ...], access: Access, role: str, policy: Mapping[str, Any]
) -> Decision:
    tags = _tags(deployment, role)
    # An access with alternatives (a change is a put or an update) is possible if all of them are.
    is_allowed = all(allows(policy, replace(request, tags=tags)) for request in access.requests)
    is_meant = role in access.roles
    if is_allowed == is_meant:
        return "allowed" if is_allowed else "denied"
    if not is_allowed:
        return "MISSING"
    own = [request for each in accesses if role in each.roles for request in each.requests]
    return "shared" if all(request in own for request in access.requests) else "TOO MUCH"


def _tags(deployment: Deployment, role: str) -> tuple[tuple[str, str], ...]:
    """The tags of a principal whose own data the sample keys name."""
    return tuple(
        (tag, _sample(field))
        for design in deployment.every_design
        for field, tag in design.principals.get(role, {}).items()
    )


# --- what a design does ---


def _accesses(deployment: Deployment) -> Iterator[Access]:
    for design in deployment.designs:
        for plan in design.plans:
            yield Access(plan.name, frozenset({SERVICE, *plan.roles}), (_read(deployment, plan),))
        for search in design.searches:
            target = _resource(deployment, search.index.table, search.index.name)
            found = AccessRequest("dynamodb:SearchVectors", target)
            yield Access(search.name, frozenset({SERVICE}), (found,))
        for shape in design.shapes:
            key = _sample_key(shape.primary[0].template)
            for verb in shape.load or ACTIONS:
                target = _resource(deployment, shape.table)
                needed = tuple(
                    AccessRequest(f"dynamodb:{each}", target, (key,)) for each in ACTIONS.get(verb, ())
                )
                if needed:
                    yield Access(f"{shape.tag}.{verb}", frozenset({SERVICE}), needed)
        for table in design.tables.values():
            yield from _undeclared(deployment, table)


def _read(deployment: Deployment, plan: Plan) -> AccessRequest:
    index = plan.index.name if plan.index is not None else ""
    action = "GetItem" if plan.kind == "get" else "Query"
    leading = (_sample_key(plan.pk[0]),)
    return AccessRequest(f"dynamodb:{action}", _resource(deployment, plan.table, index), leading)


def _undeclared(deployment: Deployment, table: Table) -> Iterator[Access]:
    if not table.whole:
        scan = AccessRequest("dynamodb:Scan", _resource(deployment, table))
        yield Access(f"Scan of {table.name}", frozenset(), (scan,), is_declared=False)
    asked = {
        (plan.table.name, plan.index.name if plan.index is not None else "")
        for design in deployment.every_design
        for plan in design.plans
        if plan.kind == "query"
    }
    for index in ("", *(each.name for each in deployment.indexes(table))):
        if (table.name, index) not in asked:
            place = f"{table.name}.{index}" if index else table.name
            query = AccessRequest("dynamodb:Query", _resource(deployment, table, index), (_sample("key"),))
            yield Access(f"Query of {place}", frozenset(), (query,), is_declared=False)


def _resource(deployment: Deployment, table: Table, index: str = "") -> str:
    under = f"/index/{index}" if index else ""
    region = deployment.environment.region
    return f"arn:aws:dynamodb:{region}:{_ACCOUNT}:table/{deployment.physical(table.name)}{under}"


def _sample_key(template: Template) -> str:
    """A key as the template writes it; a part that writes nothing is left out."""
    return "".join(
        piece if isinstance(piece, str) else _sample(piece.field) if piece.codec.pattern else ""
        for piece in template.pieces
    )


def _sample(field: str) -> str:
    return f"sample-{field}"
