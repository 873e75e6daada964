"""Tables of a source as values: what a reader of another tool's file makes, whatever the tool."""

from dataclasses import dataclass

from tablewright.mapping.deploy.states import TableState


@dataclass(frozen=True, slots=True)
class ImportedAttribute:
    """An attribute of items, as far as a source knows it; `letter` is empty where it does not say the type."""

    name: str
    letter: str
    required: bool = False
    choices: tuple[str, ...] = ()
    format: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class ImportedEntity:
    """What is stored in a table, where a source says it: templates of its keys, and attributes."""

    tag: str
    about: str
    pk: str
    sk: str | None
    attributes: tuple[ImportedAttribute, ...]


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """A table of a source. `notes` are what of it a design cannot say.

    `says_protection`: whether the source tells recovery and deletion protection; if not, they are off in the state.
    """

    state: TableState
    about: str = ""
    attributes: tuple[ImportedAttribute, ...] = ()
    entities: tuple[ImportedEntity, ...] = ()
    region: str = ""
    notes: tuple[str, ...] = ()
    says_protection: bool = True
