"""A design with vector indexes: notes of tenants, found by what they are about."""

from datetime import datetime

from pydantic import BaseModel

from tablewright.design import Design, Environment, Expires, Load


class Note(BaseModel):
    tenant: str
    id: str
    kind: str = "text"
    year: int = 2026
    title: str = ""
    until: datetime | None = None
    embedding: tuple[float, ...] | None = None


class Title(BaseModel):
    tenant: str
    id: str
    title: str = ""


def note_key(tenant: str, id: str) -> None: ...


NOTES = Design("notes")
table = NOTES.table("notes", pk="PK", sk="SK", ttl="ttl")
near = table.vectors("near", of="embedding", dimensions=3, partition="tenant", filters=("kind", "year"))
titles = table.vectors(
    "titles", of="embedding", dimensions=3, distance="EUCLIDEAN", project=("tenant", "id", "title")
)
notes = table.entity(
    Note,
    note_key,
    tag="note",
    pk="TENANT#{tenant}",
    sk="NOTE#{id}",
    expires=Expires("until"),
    load={"create": Load(per_month=1_000_000, item_bytes=2_000)},
)


@NOTES.search(notes, on=near, top=10, load=Load(per_month=100_000, items=5_000, item_bytes=2_000))
def notes_like(*, tenant: str, kind: str | None = None, year: int | None = None) -> None:
    """Notes of a tenant about the same."""


@NOTES.search(notes.view(Title), on=titles)
def titles_like() -> None: ...


NOTES.environment(Environment("prod", region="us-east-1"))
NOTES.build()
