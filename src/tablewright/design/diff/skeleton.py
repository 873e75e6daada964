"""The beginning of a migration, as Python: what `Migration` and a backfill need, and what is to be filled in. Pure.

Must hold: the text compiles; what cannot be known is marked TODO and raises an error, so that a migration that is not
finished never runs; filled in, it runs with `tablewright migrate plan FILE:NAME`; nothing is printed for a change that
needs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from tablewright.design.diff.changes import Change

_HEAD = '''"""What the changes of {design} need. Printed by `tablewright design diff`; fill in each TODO.

{listing}
"""
'''
_BOTH = """
# The two versions of the design.
{old}
{new}
"""
_FUNCTIONS = '''

def forward_{name}(old: Any) -> tuple[Any, ...]:
    """The {tag} of the new table that stands for one of the old: none or more. Pure.

{why}
    """
    # TODO: NEW.shape("{tag}").model(...) with its new fields; if the fields are the same: return (old,)
    raise NotImplementedError("fill in forward_{name}")


def back_{name}(new: Any) -> tuple[Any, ...]:
    """The {tag} of the old table that stands for one of the new: for the rollback. Pure."""
    # TODO: OLD.shape("{tag}").model(...), the reverse of forward_{name}; if the fields are the same: return (new,)
    raise NotImplementedError("fill in back_{name}")
'''
_MIGRATION = """

{first}# Run it with: tablewright migrate plan {file}:{upper}, and then `run`, `verify`, `switch`. Programs use
# Db(routed(call, {upper}), ...), which leads to the table that is open.
_OLD_{upper} = TableVersion(OLD, OLD.tables["{table}"])
_NEW_{upper} = TableVersion(NEW, NEW.tables["{table}"], name="{table}-2")
{upper} = Migration(
    "{table}-2",
    _OLD_{upper},
    _NEW_{upper},
    by_entity(_OLD_{upper}, _NEW_{upper}, {{{forward}}}),
    by_entity(_NEW_{upper}, _OLD_{upper}, {{{back}}}),
)
"""
_BACKFILL = """
# {why}
# Deploy the new code first, so that what is written from now on has it; then:
#   tablewright migrate backfill {design} --entity {tag}"""
_FILL = '''

def fill_{name}(item: Item) -> Item:
    """Attributes of a {tag} that the design cannot derive: {attributes}. Pure; the item as it is stored.

{why}
    """
    # TODO: return what is missing, such as {{{example}}}; {{}} for an item that has it
    raise NotImplementedError("fill in fill_{name}")
'''
# How a value of each type letter begins, as Python has it.
_EXAMPLES: Mapping[str, str] = {
    "S": '"..."', "N": '"0"', "B": '"..."', "BOOL": "False", "L": "[]", "M": "{}", "SS": '["..."]', "NS": '["0"]',
    "BS": '["..."]',
}  # fmt: skip
_FILLS = """

# Deploy the new code first; then: tablewright migrate backfill {design} --fills {file}:FILLS
FILLS = {{{fills}}}
"""


def load_lines(version: str, file: str) -> str:
    """The line for a version that is a design file, by its path from the skeleton."""
    return f'{version} = load_design(Path(__file__).parent / "{_plain(file)}")'


def missing_import(version: str, said: str) -> str:
    """The lines for a version of the design that has no name to be imported by."""
    return (
        f"# TODO: import the design {_plain(said)} as {version}, and remove the next line\n"
        f'raise NotImplementedError("import {version}")'
    )


def skeleton(
    design: str, found: Sequence[Change], imports: tuple[str, str] | None = None, file: str = "FILE"
) -> str:
    """Python for what needs a new table or a backfill; empty if nothing does.

    `design` is the new version as a command names it, `imports` the lines that set OLD and NEW, `file` where the text
    goes.
    """
    needed = [change for change in found if change.needs != "nothing" and change.table]
    if not needed:
        return ""
    moved = [change for change in needed if change.needs == "new table"]
    tables = list(dict.fromkeys(change.table for change in moved))
    # What goes to a new table is made whole there.
    rest = [change for change in needed if change.needs == "backfill" and change.table not in tables]
    fields = [change for change in rest if change.subject == "field"]
    listing = "\n".join(f"{change.where}: {change.needs}. {change.why}" for change in needed)
    pieces = [_HEAD.format(design=_plain(design), listing=_plain(listing))]
    old, new = imports or (missing_import("OLD", "the old version"), missing_import("NEW", design))
    pieces += _imports((old, new) if tables else (), has_fills=bool(fields))
    if tables:
        pieces.append(_BOTH.format(old=old, new=new))
    pieces += [_migration(table, [each for each in needed if each.table == table], file) for table in tables]
    pieces += _backfills([each for each in rest if each not in fields], design)
    pieces += _fills(fields, design, file)
    return "\n".join(piece.rstrip("\n") if at else piece.rstrip() for at, piece in enumerate(pieces)) + "\n"


def _imports(versions: Sequence[str], *, has_fills: bool) -> Iterator[str]:
    """The imports of what is used; `versions` are the lines that set OLD and NEW, if there is a migration."""
    is_loaded = any("load_design(" in line for line in versions)
    if is_loaded:
        yield "from pathlib import Path"
    if versions:
        yield "from typing import Any\n"
    if is_loaded:
        yield "from tablewright.design.files import load_design"
    if versions:
        yield "from tablewright.mapping.migrate import Migration, TableVersion, by_entity"
    if has_fills:
        yield "from tablewright.values import Item"


def _migration(table: str, found: Sequence[Change], file: str) -> str:
    """A function for each entity whose fields or keys change, and the migration."""
    # An attribute that is made from fields is made by the new design.
    tags = list(
        dict.fromkeys(each.tag for each in found if each.tag and each.subject in ("key", "field", "entity"))
    )
    tags = [tag for tag in tags if any(each.tag == tag and _is_moved(each) for each in found)]
    pieces = []
    for tag in tags:
        mine = [each for each in found if each.tag == tag and _is_moved(each)]
        why = "\n".join(
            f"    {_plain(each.where)}: {_plain(each.old)} -> {_plain(each.new)}" for each in mine
        )
        pieces.append(_FUNCTIONS.format(name=_name(tag), tag=_plain(tag), why=why).rstrip("\n"))
    forward, back = (
        ", ".join(f'"{_plain(tag)}": {word}_{_name(tag)}' for tag in tags) for word in ("forward", "back")
    )
    upper = _name(table).upper()
    firsts = dict.fromkeys(each.first for each in found if each.first)
    first = "".join(
        f"# TODO: {_plain(each)}.\n# Until then this raises TableUnsuitable.\n" for each in firsts
    )
    pieces.append(
        _MIGRATION.format(
            upper=upper, table=_plain(table), forward=forward, back=back, file=_plain(file), first=first
        )
    )
    return "\n".join(pieces)


def _is_moved(change: Change) -> bool:
    return change.needs == "new table" or change.subject == "field"


def _backfills(derived: Sequence[Change], design: str) -> list[str]:
    pieces = []
    for tag in dict.fromkeys(each.tag for each in derived if each.tag):
        why = "; ".join(f"{each.where}: {each.why}" for each in derived if each.tag == tag)
        pieces.append(_BACKFILL.format(tag=_plain(tag), why=_plain(why), design=_plain(design)))
    return pieces


def _fills(fields: Sequence[Change], design: str, file: str) -> list[str]:
    pieces, tags = [], list(dict.fromkeys(each.tag for each in fields))
    for tag in tags:
        mine = [each for each in fields if each.tag == tag]
        names = [name for each in mine for name in each.attributes]
        why = "\n".join(f"    {_plain(each.where)}: {_plain(each.why)}" for each in mine)
        attributes = ", ".join(names)
        example = f'"{names[0]}": {{"{mine[0].letter}": {_EXAMPLES.get(mine[0].letter, "...")}}}'
        pieces.append(
            _FILL.format(name=_name(tag), tag=_plain(tag), attributes=attributes, why=why, example=example)
        )
    if tags:
        fills = ", ".join(f'"{_plain(tag)}": fill_{_name(tag)}' for tag in tags)
        pieces.append(_FILLS.format(fills=fills, design=_plain(design), file=_plain(file)))
    return pieces


def _name(text: str) -> str:
    """A name as Python takes it."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in text).lower()
    return plain if not plain[:1].isdigit() else f"_{plain}"


def _plain(text: str) -> str:
    """Without what would end a text or a docstring."""
    return text.replace("\\", "/").replace('"', "'")
