"""A table's replicas as values: who belongs to it, who may write, what is still being copied. Pure.

Every region keeps what it knows of all of them, itself included, in its own catalog. What is said of a member (that it
is there or gone, its overrides) carries when and where it was said, and the later saying holds everywhere; how far a
member has come (`status`) is each region's own observation.
Must hold: merging is the same in any order and however often; (epoch, writer) only grows.
Elsewhere: what is done about it (replicas.py, replica_pulls.py), stamps of items (storage_replicas.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

# A moment in microseconds and the region that said something then. Later wins; at the same moment the name decides.
Said: TypeAlias = tuple[int, str]
NEVER: Said = (0, "")
# Who writes: the epoch and the writer's region ("": all write).
Role: TypeAlias = tuple[int, str]
FIRST: Role = (0, "")


def role_of(epoch: int, writer: str | None) -> Role:
    return epoch, writer or ""


class Ledger(NamedTuple):
    """Which stamps: the table's number, and that of its stamps. A dropped one's number is not used again."""

    table: int
    number: int

    @property
    def name(self) -> str:
        return f"t{self.table}_s{self.number}"


# What autoscaling keeps to, by kind of units and index (scaling_settings.py): target, least and most units, and what
# else was said of it, if anything was.
Settings: TypeAlias = Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a replica has of its own, where it differs from the others; `scaling` is None where nobody has said."""

    read_units: int | None = None
    on_demand_reads: int | None = None
    table_class: str | None = None
    index_reads: Mapping[str, int] = field(default_factory=dict)
    index_on_demand: Mapping[str, int] = field(default_factory=dict)
    scaling: Settings | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One region's replica. `source` is the region it was asked for in, `added` when (microseconds)."""

    region: str
    said: Said
    source: str = ""
    added: int = 0
    is_gone: bool = False
    overrides: Overrides = Overrides()
    # CREATING, ACTIVE, CREATION_FAILED; DELETING once it is gone, until the region has confirmed it.
    status: str = "CREATING"
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Takeover:
    """A region's becoming the writer, and how far it had read everybody's writes then, its own included."""

    epoch: int
    writer: str
    known: Mapping[str, int]

    @property
    def role(self) -> Role:
        return self.epoch, self.writer


@dataclass(frozen=True, slots=True)
class Copying:
    """Items being copied from a region: up to which key (hex) it has come, and what the source had read at the start.

    `is_mirror`: whatever differs here is overwritten, also what nobody else has; then `line` is the one the source
    followed at the start, and `role` who wrote for it.
    """

    source: str
    after: str = ""
    start: Mapping[str, int] | None = None
    is_mirror: bool = False
    copied: int = 0
    line: tuple[Takeover, ...] = ()
    role: Role | None = None

    def anew(self, source: str) -> "Copying":
        """From that region, from the beginning."""
        return replace(self, source=source, after="", start=None)


@dataclass(frozen=True, slots=True)
class Group:
    """All replicas of a table as `region`, where this is kept, knows them.

    `born` is the number of the journal's last row when the table became a replica, or was last made the same as
    another; `stamps` the number of its stamps in the store (see Ledger), `settings` when the settings all share were
    last changed, `expiry` when time to live was. With a `writer` only that region takes writes; `epoch` counts who that
    was. `line` are the writers this region has followed. `held` is set in a region that may have writes which were
    given up when somebody else took over: up to which number each region's were not. Until that is settled it follows
    nobody.
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
    line: tuple[Takeover, ...] = ()
    held: Mapping[str, int] | None = None
    # Regions that have yielded to this one and of which everything was read.
    drained: tuple[str, ...] = ()
    draining: int = 0  # for which epoch
    copying: Copying | None = None
    # Where a writer needs a lease, those whose word counts, as the writer has told (None: all). Whoever was silent when
    # the writer was promoted is not among them until it has heard of that.
    voters: tuple[str, ...] | None = None

    def member(self, region: str) -> Member | None:
        return next((one for one in self.members if one.region == region), None)

    @property
    def others(self) -> list[Member]:
        """The other replicas that are there, or not confirmed to be gone, the oldest first."""
        return [one for one in self.members if one.region != self.region and one.status != "GONE"]

    @property
    def readers(self) -> list[Member]:
        """The other replicas that read what is written here."""
        return [one for one in self.others if not one.is_gone and one.status != "CREATION_FAILED"]

    def has_drained(self, region: str, epoch: int) -> bool:
        """Whether everything was read of a region that yields to this one for that epoch."""
        return region in self.drained and epoch == self.draining

    @property
    def electorate(self) -> list[str]:
        """Those whose word counts for a lease, this region among them if it does."""
        there = [self.region, *(one.region for one in self.readers)]
        return sorted(one for one in there if self.voters is None or one in self.voters)

    @property
    def takes_writes(self) -> bool:
        return self.writer == self.region or (self.writer is None and self.held is None)

    @property
    def role(self) -> Role:
        return role_of(self.epoch, self.writer)

    @property
    def since(self) -> Role:
        """The last takeover this region has followed."""
        return self.line[-1].role if self.line else FIRST

    def with_settings_changed(self, at: int) -> "Group":
        return replace(self, settings=(max(at, self.settings[0] + 1), self.region))

    def with_expiry_changed(self, at: int) -> "Group":
        return replace(self, expiry=(max(at, self.expiry[0] + 1), self.region))

    def with_member(self, member: Member) -> "Group":
        known = [one for one in self.members if one.region != member.region]
        return replace(
            self,
            members=tuple(
                sorted([*known, member], key=lambda one: (one.added, one.source != "", one.region))
            ),
        )


def copying_from(group: Group, copying: Copying, why: str) -> Group:
    """The group when this region begins to copy the table from another, as it then shows."""
    me = group.member(group.region)
    assert me is not None, "a region is a member of the groups it keeps"
    return replace(group.with_member(replace(me, status="UPDATING", why=why)), copying=copying)


def follows(group: Group, region: str) -> bool:
    """Whether changes made in that region are to be taken: all replicas', or with a writer the writer's only."""
    return group.held is None and (group.writer is None or group.writer == region)


def merged(group: Group, told: Iterable[Member]) -> Group:
    """The group with what another region says of its members, where that is newer."""
    for member in told:
        known = group.member(member.region)
        if known is not None and known.said >= member.said:
            continue
        if member.is_gone:
            status = "GONE"  # whoever took it away sees to it; for the others it is simply not there
        elif known is None:
            status = member.status
        else:
            status = "CREATING" if known.is_gone else known.status
        group = group.with_member(replace(member, status=status, why=None))
    return group


# --- to and from JSON ---


def group_from(fields: Mapping[str, Any] | None) -> Group | None:
    if fields is None:
        return None
    copying = fields["copying"]
    return Group(
        **{
            **fields,
            "settings": tuple(fields["settings"]),
            "expiry": tuple(fields["expiry"]),
            "members": tuple(member_from(one) for one in fields["members"]),
            "drained": tuple(fields["drained"]),
            "line": line_from(fields.get("line", ())),
            "copying": None if copying is None else _copying_from(copying),
            "voters": None if fields.get("voters") is None else tuple(fields["voters"]),
        }
    )


def line_from(told: Iterable[Mapping[str, Any]]) -> tuple[Takeover, ...]:
    return tuple(Takeover(**one) for one in told)


def _copying_from(fields: Mapping[str, Any]) -> Copying:
    role = fields.get("role")
    line = line_from(fields.get("line", ()))
    return Copying(**{**fields, "line": line, "role": None if role is None else (role[0], role[1])})


def member_from(fields: Mapping[str, Any]) -> Member:
    overrides = Overrides(**fields["overrides"])
    return Member(**{**fields, "said": tuple(fields["said"]), "overrides": overrides})
