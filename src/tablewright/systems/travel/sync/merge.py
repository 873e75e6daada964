"""How the edits of several devices become one state. Pure functions over fields.

An edit names the fields it changed and the version it was made from; the stamps of an entity say which change set
which field last, and so which fields others changed since that version. A field that only one side changed is that
side's. Where both did, and differ: notes keep both texts if they fit, anything else keeps the server's (SK-X2). An
edit of something deleted since leaves it deleted; a deletion of something edited since leaves it edited.
Must hold: every value of an edit is in the result, was already stored, or is in a conflict beside the kept one.
Elsewhere: what the fields are and may be (rules.py); reading and writing them (push.py).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from pydantic import JsonValue

from tablewright.systems.travel.model import Stamp, Strategy

Fields: TypeAlias = Mapping[str, JsonValue]  # what is not there is None
Verb: TypeAlias = Literal["create", "update", "delete", "restore"]
Outcome: TypeAlias = Literal["applied", "merged", "conflict"]

NOTES_AT_MOST = 500
STAMPS_OF_GONE = 50
# The stamp of being there or not, and the name of a conflict about that.
WHOLE = "*"
# The stamp of the last of the fields that are gone and whose own stamps are forgotten.
FORGOTTEN = "-"


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed a field, and differ."""

    field: str
    server: JsonValue
    client: JsonValue
    kept: JsonValue
    strategy: Strategy


@dataclass(frozen=True, slots=True)
class Merge:
    """What to set, and the conflicts."""

    set: Fields
    clashes: tuple[Clash, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """An entity as the server has it. `version` 0: it has none.

    `floor`: an entity that begins gets a version above it. One that was there before and is forgotten had none above.
    """

    fields: Fields = field(default_factory=dict)
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    version: int = 0
    is_deleted: bool = False
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Author:
    """The device that edits, and the version it edits from.

    `follows`: the edit has seen what the same device did up to there in the feed. `is_stale`: the device was away for
    so long that the versions it knows may be of an entity that was deleted, purged and created again. `feed`: where
    the edit will be in the feed.
    """

    device: str
    base: int
    follows: int = 0
    is_stale: bool = False
    label: str = ""
    feed: int = 0

    def stamp(self, version: int) -> Stamp:
        return Stamp(version=version, device=self.device, feed=self.feed)

    def has_seen(self, stamp: Stamp) -> bool:
        """Whether it was done on the same device, and before the edit was begun."""
        return stamp.device == self.device and 0 < stamp.feed <= self.follows


@dataclass(frozen=True, slots=True)
class Settled:
    """What an edit made of an entity. A new version only if something `changed`."""

    known: Known
    outcome: Outcome
    changed: bool
    strategy: Strategy | None = None
    clashes: tuple[Clash, ...] = ()


# --- fields ---


def merge(edit: Fields, server: Fields, changed: Collection[str], label: str = "") -> Merge:
    """An edit upon what the server has, of which others `changed` some fields since the edit was made."""
    put: dict[str, JsonValue] = {}
    clashes: list[Clash] = []
    for name, value in edit.items():
        there = server.get(name)
        if value == there:
            continue
        if name not in changed:
            put[name] = value
            continue
        clash = _clash(name, there, value, label)
        clashes.append(clash)
        if clash.kept != there:
            put[name] = clash.kept
    return Merge(put, tuple(clashes))


def _clash(name: str, server: JsonValue, client: JsonValue, label: str) -> Clash:
    if name == "notes" and isinstance(client, str):
        both = both_notes(server if isinstance(server, str) else "", client, label)
        if both is None:
            return Clash(name, server, client, server, "manual")
        return Clash(name, server, client, both, "merged")
    return Clash(name, server, client, server, "server_wins")


def both_notes(server: str, client: str, label: str) -> str | None:
    """Two texts in one, or None if that would be too long. Length is counted in code points (SK-X11)."""
    if client in server:
        return server
    if not server:
        return client
    both = f"{server} — from {label or 'another device'}: {client}"
    return both if len(both) <= NOTES_AT_MOST else None


# --- entities ---


def settle(verb: Verb, edit: Fields, known: Known, author: Author) -> Settled:
    """The state of an entity after an edit, with the conflicts."""
    if known.version == 0:
        return _of_nothing(verb, edit, known, author)
    if known.is_deleted:
        return _of_tombstone(verb, edit, known, author)
    unseen = unseen_by(author, known)
    if FORGOTTEN in unseen:
        # It is no longer known which fields were removed: any missing one may be among them.
        unseen |= {name for name in edit if _is_of_many(name) and name not in known.stamps}
    if verb == "delete":
        if unseen:
            # Deleted without having seen other edits: the entity stays, and the traveller gets a conflict.
            clash = Clash(WHOLE, dict(known.fields), None, dict(known.fields), "server_wins")
            return Settled(known, "conflict", False, "server_wins", (clash,))
        stamps = {**known.stamps, WHOLE: author.stamp(known.version + 1)}
        return Settled(Known(known.fields, stamps, known.version + 1, True), "applied", True)
    merged = merge(edit, known.fields, unseen, author.label)
    after = _with(known, merged, author)
    outcome: Outcome = "conflict" if merged.clashes else "merged" if unseen else "applied"
    strategy = _strategy(merged.clashes) or ("merged" if unseen else None)
    return Settled(after, outcome, after is not known, strategy, merged.clashes)


def unseen_by(author: Author, known: Known) -> frozenset[str]:
    """The fields that others set since the version an edit was made from."""
    base = 0 if author.is_stale or author.base > known.version else author.base
    return frozenset(
        name for name, stamp in known.stamps.items() if stamp.version > base and not author.has_seen(stamp)
    )


def _of_nothing(verb: Verb, edit: Fields, known: Known, author: Author) -> Settled:
    if verb == "delete":
        return Settled(known, "applied", False)
    if verb == "update" and author.base > 0:
        # It was deleted, and its tombstone is gone too: an update must not restore it.
        clash = Clash(WHOLE, None, dict(edit), None, "server_wins")
        return Settled(known, "conflict", False, "server_wins", (clash,))
    return Settled(_begun(edit, known.floor + 1, author), "applied", True)


def _of_tombstone(verb: Verb, edit: Fields, known: Known, author: Author) -> Settled:
    is_unseen = WHOLE in unseen_by(author, known)
    match verb:
        case "delete":
            return Settled(known, "merged" if is_unseen else "applied", False)
        case "update" if is_unseen:
            clash = Clash(WHOLE, None, dict(edit), None, "server_wins")
            return Settled(known, "conflict", False, "server_wins", (clash,))
        case _:
            # A new mark starts empty; a restore brings back the old fields.
            fields = edit if verb == "create" else {**known.fields, **edit}
            after = _begun_again(known, fields, author)
            if is_unseen:
                # Marking is not editing: it wins over an unseen deletion, and the traveller gets a conflict.
                clash = Clash(WHOLE, None, dict(edit), dict(after.fields), "client_wins")
                return Settled(after, "conflict", True, "client_wins", (clash,))
            return Settled(after, "applied", True)


def _begun(fields: Fields, version: int, author: Author) -> Known:
    kept = {name: value for name, value in fields.items() if value is not None}
    stamp = author.stamp(version)
    return Known(kept, {WHOLE: stamp, **dict.fromkeys(kept, stamp)}, version)


def _begun_again(known: Known, fields: Fields, author: Author) -> Known:
    """What was deleted is there again. What does not come back went with it, and what had gone before stays so."""
    after = _begun(fields, known.version + 1, author)
    gone = {name: stamp for name, stamp in known.stamps.items() if name not in known.fields}
    left = {**gone, **dict.fromkeys(known.fields, known.stamps[WHOLE])}
    return replace(after, stamps=_remembered({**left, **after.stamps}, after.fields))


def _with(known: Known, merged: Merge, author: Author) -> Known:
    if not merged.set:
        return known
    version = known.version + 1
    # A merged text has no device: the next edit of either side has not seen it.
    mixed = {clash.field for clash in merged.clashes}
    stamps = {name: Stamp(version=version) if name in mixed else author.stamp(version) for name in merged.set}
    fields = {name: value for name, value in {**known.fields, **merged.set}.items() if value is not None}
    return Known(fields, _remembered({**known.stamps, **stamps}, fields), version)


def _remembered(stamps: Mapping[str, Stamp], fields: Fields) -> Mapping[str, Stamp]:
    """One stamp instead of all those of fields that are long gone: an entity's size has an end."""
    gone = sorted(
        (stamp.version, name) for name, stamp in stamps.items() if _is_of_many(name) and name not in fields
    )
    forgotten = {name for _, name in gone[:-STAMPS_OF_GONE]}
    if not forgotten:
        return stamps
    before = [stamps[FORGOTTEN]] if FORGOTTEN in stamps else []
    kept = {name: stamp for name, stamp in stamps.items() if name not in forgotten}
    return {**kept, FORGOTTEN: _last_of([stamps[name] for name in forgotten] + before)}


def _is_of_many(name: str) -> bool:
    """A trip or a switch, of which there may be any number in time."""
    return "/" in name


def _last_of(stamps: Sequence[Stamp]) -> Stamp:
    """A stamp with the latest version; without a device if they are of several."""
    last = max(stamps, key=lambda stamp: stamp.version)
    return last if len({stamp.device for stamp in stamps}) == 1 else Stamp(version=last.version)


def _strategy(clashes: tuple[Clash, ...]) -> Strategy | None:
    """One word for several: what needs a person most is said first."""
    said = {clash.strategy for clash in clashes}
    order: tuple[Strategy, ...] = ("manual", "server_wins", "client_wins", "merged")
    return next((strategy for strategy in order if strategy in said), None)
