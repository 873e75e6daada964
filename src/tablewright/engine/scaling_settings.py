"""The settings of autoscaling, in every region: which units follow what is used, how far, and who is told.

A region's own settings are in its store (storage_metrics.py); that is what autoscaling goes by. Of a table with
replicas each region also knows everybody's, as part of what a member has of its own (replica_group.py): so a setting
can be made for any region from any other, and reaches it with everything else that is said of members. Write units
are shared by all replicas, and so are their settings; read units are each region's own.
A setting is a list: the target, the least and the most units, and after these, if more was said, a mapping of it by the
service's names (DETAILS), which is kept with the table.
Must hold: what a region's store has is what is said of it as a member.
Elsewhere: what is done with them (autoscaling.py), the verbs (operations/*_table_replica_auto_scaling.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablewright.engine.catalog import Index, Table
from tablewright.engine.replica_group import Settings
from tablewright.engine.storage_metrics import Scaling, all_scaling, forget_scaling, save_scaling
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Reading, Writing

KINDS = ("Read", "Write")
TARGETS = (20.0, 90.0)
UNITS = 1 << 53
# What may be said of how a target is followed, and all that may be said beside target and limits.
TRACKING = ("DisableScaleIn", "ScaleInCooldown", "ScaleOutCooldown")
DETAILS = ("PolicyName", "AutoScalingRoleArn", *TRACKING)
_ROLE = (
    "arn:aws:iam::{}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


def wrong_setting(target: float, least: int, most: int) -> str | None:
    """Why a setting makes no sense, if it does not."""
    if not TARGETS[0] <= target <= TARGETS[1]:
        return f"a target is {TARGETS[0]:g} to {TARGETS[1]:g} percent, not {target:g}"
    if not 1 <= least <= most <= UNITS:
        return f"units go from at least 1 up to most, not from {least} to {most}"
    return None


# --- as they are kept ---


def settings_here(rows: Rows, table: Table) -> Settings:
    """This region's settings of a table."""
    found: dict[str, list[Any]] = {}
    for one in all_scaling(rows):
        if one.table == table.name:
            place = place_of(one.kind, one.index_name)
            details = table.scaling.get(place)
            found[place] = [one.target, one.least, one.most, *([dict(details)] if details else [])]
    return found


def details_of(setting: Sequence[Any]) -> Mapping[str, Any]:
    """What was said beside the target and the limits."""
    details: Mapping[str, Any] = setting[3] if len(setting) > 3 else {}
    return details


def place_of(kind: str, index: str) -> str:
    return f"{kind}:{index}"


def settings_in(seen: Reading | Writing, table: Table, region: str) -> Settings:
    """A table's settings in a region, as far as they are known here."""
    if region == seen.place.region or table.replicas is None:
        return settings_here(seen.rows, table)
    member = table.replicas.member(region)
    return {} if member is None else member.overrides.scaling or {}


def shared(settings: Settings) -> Settings:
    """The part that all replicas have: that of write units."""
    return {place: one for place, one in settings.items() if place.startswith("Write:")}


def change(writing: Writing, table: Table, changed: Mapping[str, Mapping[str, list[Any] | None]]) -> None:
    """Make changes in regions, each to some places (None: no setting any more)."""
    kept = _with_kept(writing, table, changed.get(writing.place.region, {}))
    group = table.replicas
    if group is None:
        if kept != table:
            writing.save_table(kept)
        return
    table = kept
    for member in group.members:
        if member.region not in changed or member.is_gone:
            continue
        known = settings_in(writing, table, member.region)
        settings = {
            place: one for place, one in {**known, **changed[member.region]}.items() if one is not None
        }
        said = (max(writing.pen.at, member.said[0] + 1), group.region)
        overrides = replace(member.overrides, scaling=settings)
        group = group.with_member(replace(member, said=said, overrides=overrides))
    writing.save_table(replace(table, replicas=group))


def take_settings_said(writing: Writing, table: Table) -> Table:
    """Go by what another region has said of this one; the table with what of it is kept there."""
    group = table.replicas
    me = None if group is None else group.member(group.region)
    if me is None or me.overrides.scaling is None:
        return table
    known, said = settings_here(writing.rows, table), me.overrides.scaling
    places = [place for place in {**known, **said} if known.get(place) != said.get(place)]
    return _with_kept(writing, table, {place: said.get(place) for place in places})


def _with_kept(writing: Writing, table: Table, given: Mapping[str, list[Any] | None]) -> Table:
    """Keep settings of this region; the table with what of them is kept there."""
    details = dict(table.scaling)
    for place, one in given.items():
        _keep(writing, table.name, place, None if one is None else one[:3])
        details.pop(place, None)
        if one is not None and details_of(one):
            details[place] = details_of(one)
    return replace(table, scaling=details)


def _keep(writing: Writing, table: str, place: str, one: Iterable[float] | None) -> None:
    kind, _, index = place.partition(":")
    if one is None:
        forget_scaling(writing.rows, table, index, kind)
    else:
        target, least, most = one
        save_scaling(writing.rows, Scaling(table, index, kind, target, int(least), int(most)))


def scaled(tables: Mapping[str, Table], table: str, index: str) -> Table | Index | None:
    """What has provisioned units under that name, and so can be scaled."""
    found = tables.get(table)
    if found is None or found.billing != "PROVISIONED":
        return None
    if not index:
        return found
    wanted = found.index(index)
    return wanted if wanted is not None and not wanted.local and wanted.status == "ACTIVE" else None


# --- as the service shows them ---


def described(seen: Reading | Writing, table: Table) -> dict[str, Any]:
    """TableAutoScalingDescription: the settings of every region."""
    group, here = table.replicas, seen.place.region
    members = {here: table.status} if group is None else {here: table.status} | {
        one.region: "DELETING" if one.is_gone else one.status for one in group.others
    }  # fmt: skip
    return {
        "TableName": table.name,
        "TableStatus": table.status,
        "Replicas": [_described_replica(seen, table, region, status) for region, status in members.items()],
    }


def _described_replica(seen: Reading | Writing, table: Table, region: str, status: str) -> dict[str, Any]:
    known = settings_in(seen, table, region)

    def shown(kind: str, index: str = "") -> dict[str, Any]:
        return _described_setting(
            table.name, kind, index, known.get(place_of(kind, index)), seen.place.account
        )

    return {
        "RegionName": region,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "IndexStatus": index.status,
                "ProvisionedReadCapacityAutoScalingSettings": shown("Read", index.name),
                "ProvisionedWriteCapacityAutoScalingSettings": shown("Write", index.name),
            }
            for index in table.indexes
            if not index.local
        ],
        "ReplicaProvisionedReadCapacityAutoScalingSettings": shown("Read"),
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": shown("Write"),
        "ReplicaStatus": status,
    }


def _described_setting(
    table: str, kind: str, index: str, one: list[Any] | None, account: str
) -> dict[str, Any]:
    if one is None:
        return {"AutoScalingDisabled": True}
    (target, least, most), details = one[:3], details_of(one)
    resource = f"table/{table}/index/{index}" if index else f"table/{table}"
    return {
        "MinimumUnits": int(least),
        "MaximumUnits": int(most),
        "AutoScalingDisabled": False,
        "AutoScalingRoleArn": details.get("AutoScalingRoleArn", _ROLE.format(account)),
        "ScalingPolicies": [
            {
                "PolicyName": details.get("PolicyName", f"DynamoDB{kind}CapacityUtilization:{resource}"),
                "TargetTrackingScalingPolicyConfiguration": {
                    **{name: details[name] for name in TRACKING if name in details},
                    "TargetValue": float(target),
                },
            }
        ],
    }
