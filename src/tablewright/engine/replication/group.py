"""A table's replicas as values: its members, its writer, and what is being copied. Pure.

Every region keeps what it knows of all members, itself included, in its own catalog. A statement about a member (that
it exists or is gone, its overrides) carries when and where it was made, and the later statement wins in every region;
`status` is each region's own observation of the member.
Must hold: merging is the same in any order and however often; (epoch, writer) only grows.
Elsewhere: reading from other regions (follow.py), changing the writer (failover.py), stamps of items (store.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeAlias

# A moment in microseconds and the region in which a statement was made. Later wins; at the same moment, the name.
Said: TypeAlias = tuple[int, str]
NEVER: Said = (0, "")
# How far each region's writes have been read, by region.
Vector: TypeAlias = Mapping[str, int]
# What autoscaling follows, by kind of units and index (throughput/autoscaling_settings.py).
Settings: TypeAlias = Mapping[str, list[Any]]


class StampTable(NamedTuple):
    """The SQL table of stamps: the table's number, and its own. The number of a dropped one is not used again."""

    table: int
    number: int

    @property
    def name(self) -> str:
        return f"t{self.table}_s{self.number}"


@dataclass(frozen=True, slots=True)
class Overrides:
    """The settings of one replica where they differ from the others'; `scaling` is None where none was given."""

    read_units: int | None = None
    on_demand_reads: int | None = None
    table_class: str | None = None
    index_reads: Mapping[str, int] = field(default_factory=dict)
    index_on_demand: Mapping[str, int] = field(default_factory=dict)
    scaling: Settings | None = None
    key: str | None = None  # the ARN of its KMS key


@dataclass(frozen=True, slots=True)
class Member:
    """One region's replica. `source` is the region in which it was requested, `added` when (microseconds)."""

    region: str
    said: Said
    source: str = ""
    added: int = 0
    is_gone: bool = False
    overrides: Overrides = Overrides()
    # CREATING, ACTIVE, UPDATING, CREATION_FAILED; DELETING once it is gone, GONE once the region has confirmed it.
    status: str = "CREATING"
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Takeover:
    """One fail-over: the new writer, and how far it had read every region's writes when it took over."""

    epoch: int
    writer: str
    known: Vector


@dataclass(frozen=True, slots=True)
class Copying:
    """A copy from another region, up to a key (hex); what the source had read, and its fail-overs, at the start."""

    source: str
    after: str = ""
    start: Vector | None = None
    takeovers: tuple[Takeover, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """All replicas of a table as `region`, whose catalog this is in, knows them.

    `born` is the journal's last number when the table became a replica or was last copied; `stamps` the number of its
    SQL table of stamps; `settings` and `expiry` say when the shared settings and time to live were last changed.
    Without a `writer` every replica takes writes. With one only that region does; `epoch` counts the fail-overs and
    `takeovers` lists those this region has followed. `fenced` is set in a region that has writes the writer had not
    read when it took over: how far each region's writes had been read. It follows no region until it is copied again.
    """

    id: str
    region: str
    members: tuple[Member, ...]
    born: int
    stamps: int
    settings: Said = NEVER
    expiry: Said = NEVER
    epoch: int = 0
    writer: str | None = None
    takeovers: tuple[Takeover, ...] = ()
    fenced: Vector | None = None
    copying: Copying | None = None

    def member(self, region: str) -> Member | None:
        return next((one for one in self.members if one.region == region), None)

    @property
    def others(self) -> list[Member]:
        """The other replicas that exist, or are not confirmed to be gone, the oldest first."""
        return [one for one in self.members if one.region != self.region and one.status != "GONE"]

    @property
    def readers(self) -> list[Member]:
        """The other replicas that read what is written here."""
        return [one for one in self.others if not one.is_gone and one.status != "CREATION_FAILED"]

    @property
    def is_whole(self) -> bool:
        """True unless it is fenced or being copied: only then its items are the group's."""
        return self.fenced is None and self.copying is None

    @property
    def is_open(self) -> bool:
        """True if this region is the writer, and the fail-over that made it the writer is complete."""
        return self.writer == self.region and self.since == self.role

    @property
    def takes_writes(self) -> bool:
        return self.is_whole and (self.writer is None or self.is_open)

    @property
    def role(self) -> tuple[int, str]:
        """The epoch and its writer: of two regions' the greater one is the newer."""
        return self.epoch, self.writer or ""

    @property
    def since(self) -> tuple[int, str]:
        """The last fail-over this region has followed."""
        return (self.takeovers[-1].epoch, self.takeovers[-1].writer) if self.takeovers else (0, "")

    def with_settings_changed(self, at: int) -> "Group":
        return replace(self, settings=(max(at, self.settings[0] + 1), self.region))

    def with_expiry_changed(self, at: int) -> "Group":
        return replace(self, expiry=(max(at, self.expiry[0] + 1), self.region))

    def with_member(self, member: Member) -> "Group":
        known = [one for one in self.members if one.region != member.region]
        ordered = sorted([*known, member], key=lambda one: (one.added, one.source != "", one.region))
        return replace(self, members=tuple(ordered))


def merged(group: Group, theirs: Iterable[Member]) -> Group:
    """The group with another region's statements about members, where those are newer."""
    for member in theirs:
        known = group.member(member.region)
        if known is not None and known.said >= member.said:
            continue
        status = member.status if known is None else "CREATING" if known.is_gone else known.status
        if member.is_gone:
            status = "GONE"  # the region that removed it waits for the confirmation
        group = group.with_member(replace(member, status=status, why=None))
    return group


def missed(mine: Sequence[Takeover], theirs: Sequence[Takeover]) -> Sequence[Takeover]:
    """The fail-overs of another region's list after the last one that is in both."""
    known = {(one.epoch, one.writer) for one in mine}
    shared = [end for end, one in enumerate(theirs, start=1) if (one.epoch, one.writer) in known]
    return theirs[max(shared, default=0) :]


def survived(takeovers: Sequence[Takeover]) -> Vector:
    """Up to which number each region's writes were known to the new writer at all of these fail-overs."""
    regions = {region for one in takeovers for region in one.known}
    return {region: min(one.known.get(region, 0) for one in takeovers) for region in regions}


def group_from(stored: Mapping[str, Any] | None) -> Group | None:
    """A group from the catalog; also one that an earlier release wrote (decision 20)."""
    if stored is None:
        return None
    known = {one.name for one in fields(Group)}
    copying = stored["copying"]
    if copying is not None:
        # A copy that an earlier release began is begun again.
        begun = {**copying, "takeovers": _takeovers(copying)}
        copying = Copying(copying["source"]) if "line" in copying else Copying(**begun)
    return Group(
        **{
            **{name: value for name, value in stored.items() if name in known},
            "settings": tuple(stored["settings"]),
            "expiry": tuple(stored["expiry"]),
            "members": tuple(_member(one) for one in stored["members"]),
            "takeovers": _takeovers(stored),
            "fenced": stored.get("fenced", stored.get("held")) or None,
            "copying": copying,
        }
    )


def _takeovers(stored: Mapping[str, Any]) -> tuple[Takeover, ...]:
    return tuple(Takeover(**one) for one in stored.get("takeovers", stored.get("line", ())))


def _member(stored: Mapping[str, Any]) -> Member:
    overrides = Overrides(**stored["overrides"])
    return Member(**{**stored, "said": tuple(stored["said"]), "overrides": overrides})
