"""A small system for the app's own tests: a lending library, with everything a system can have."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from tablewright.design import (
    Data,
    Design,
    Environment,
    Expires,
    Keys,
    Load,
    OnDemand,
    SoftDelete,
    States,
    Unique,
    between,
)
from tablewright.edge import Principal, require
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem, not_found
from tablewright.kit.system import Person, Progress, Start, System
from tablewright.mapping import AlreadyExists, Db, NotUnique, Stale
from tablewright.pages.area import Area, Hit, Nav
from tablewright.pages.forms import Form, FormWrong, posted, read
from tablewright.pages.layout import Console, Crumb

State = Literal["ON_SHELF", "LENT", "LOST"]


class Book(BaseModel):
    """A book one can borrow."""

    id: str
    isbn: str
    title: str
    price: Decimal
    state: State = "ON_SHELF"
    active: bool = True
    added: datetime
    version: int = 1


class Note(BaseModel):
    """What a reader said about a book; it fades."""

    book: str
    at: datetime
    text: str


class NewBook(BaseModel):
    """What is typed to add a book."""

    isbn: Annotated[str, Field(pattern=r"\d{13}")]
    title: Annotated[str, Field(min_length=1)]
    price: Annotated[Decimal, Field(gt=0)]


library = Design("library", about="Books, and what readers said about them.")
shelves = library.table("shelves", pk="PK", sk="SK", ttl="expires", about="Everything on the shelves.")
by_state = shelves.gsi("ByState", pk="state", sk="added")


def _book_key(id: str) -> None: ...
def _note_key(book: str, at: datetime) -> None: ...


books = shelves.entity(
    Book,
    _book_key,
    tag="books",
    pk="BOOK#{id}",
    sk="BOOK",
    on={by_state: Keys(pk="{state}", sk="{added}")},
    unique=[Unique("isbn", "{isbn}")],
    version="version",
    soft_delete=SoftDelete("active"),
    states=States(
        "state",
        start="ON_SHELF",
        moves={
            "ON_SHELF": {"LENT": ("reader",), "LOST": ("librarian",)},
            "LENT": {"ON_SHELF": ("reader",), "LOST": ("librarian",)},
        },
        overrides=("librarian",),
    ),
    immutable=("added",),
    data={"title": Data.PUBLIC},
)
notes = shelves.entity(
    Note,
    _note_key,
    tag="notes",
    pk="BOOK#{book}",
    sk="NOTE#{at:ms}",
    expires=Expires("at", timedelta(days=365)),
    data={"text": Data.PERSONAL},
)


@library.query(
    books, pk="{state}", on=by_state, descending=True, page=25, load=Load(per_month=10_000, items=25)
)
def books_by_state(*, state: State) -> None:
    """Books in one state, newest first."""


@library.get(books, load=Load(per_second=1))
def book_by_id(*, id: str) -> None:
    """One book."""


@library.query(notes, pk="BOOK#{book}", sk=between("NOTE#{since:ms}", "NOTE#{until:ms}"))
def notes_on(*, book: str, since: datetime | None = None, until: datetime | None = None) -> None:
    """What was said about a book, oldest first."""


library.environment(
    Environment("prod", "eu-west-1", capacity=OnDemand(), pitr_days=35, deletion_protection=True)
)
library.build()


class Desk:
    """The library's service."""

    def __init__(self, given: Start) -> None:
        self.db, self.world = given.db, given.world
        self.is_closed = False

    def add(self, new: NewBook, id: str | None = None, added: datetime | None = None) -> Book:
        book = Book(
            id=id or self.world.new_id(),
            isbn=new.isbn,
            title=new.title,
            price=new.price,
            added=added or self.world.now(),
        )
        self.db.write(books.create(book))
        return book

    def book(self, id: str) -> Book:
        found = self.db.one(book_by_id(id=id))
        if found is None:
            raise not_found("NO_SUCH_BOOK", "There is no such book.")
        return found


def isbn(number: int) -> str:
    return f"978{number:010d}"


def seed(desk: Desk, progress: Progress, count: int = 60) -> None:
    began = desk.world.now()
    for number in range(count):
        new = NewBook(isbn=isbn(number), title=f"Volume {number + 1}", price=Decimal("12.50"))
        try:
            desk.add(new, id=f"b{number:03d}", added=began + timedelta(seconds=number))
        except (AlreadyExists, NotUnique):
            continue
        finally:
            progress(number + 1, count, "books")
    desk.db.write(notes.put(Note(book="b000", at=began, text="Could not put it down.")))


def people(desk: Desk) -> Sequence[Person]:
    return [
        Person(
            "lib_ines",
            "Ines Mota",
            "Librarian",
            "All books, to change.",
            ("librarian",),
            "ines@library.example",
        ),
        Person("reader_tom", "Tom Okafor", "Reader", "Books on the shelf.", ("reader",)),
    ]


class BookOut(BaseModel):
    """A book as the API shows it."""

    id: str
    title: str


def api(desk: Desk, identity: FindPrincipal) -> APIRouter:
    router = APIRouter()

    @router.get("/v1/books/{id}", summary="One book")
    def one(id: str) -> BookOut:
        return BookOut.model_validate(desk.book(id).model_dump())

    @router.post("/v1/books", status_code=201, summary="Add a book")
    def add(new: NewBook, caller: Annotated[Principal, Depends(require(identity, "librarian"))]) -> BookOut:
        return BookOut.model_validate(desk.add(new).model_dump())

    return router


def area(desk: Desk, console: Console, identity: FindPrincipal) -> Area:
    router = console.router()
    librarian = [Depends(require(identity, "librarian"))]

    @router.get("")
    def shelf(request: Request, state: State = "ON_SHELF") -> Response:
        listing = console.list(request, desk.db, books_by_state(state=state), size=25)
        return console.page(request, "problem.html", **_as_problem(", ".join(book.title for book in listing.items)),
                            title="Books", listing=listing)  # fmt: skip

    @router.get("/add", dependencies=librarian)
    def form(request: Request) -> Response:
        return console.confirm(
            request, title="Add a book", happens="A book is added.", button="Add", back="/console/library",
            crumbs=[Crumb("Books", "/console/library")],
        )  # fmt: skip

    @router.post("/add", dependencies=librarian)
    def add(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        try:
            book = desk.add(read(form, NewBook))
        except FormWrong as wrong:
            return console.confirm(
                request, title="Add a book", happens="A book is added.", button="Add", back="/console/library",
                form=wrong.form,
            )  # fmt: skip
        return console.go("/console/library", f"{book.title} is on the shelf.")

    @router.get("/fault")
    def fault() -> Response:
        raise RuntimeError("secret words of an item")

    @router.get("/stale")
    def stale() -> Response:
        raise Stale("books", {}, "somebody changed it")

    def find(caller: Principal, text: str) -> Sequence[Hit]:
        return [Hit("Volume 7", "/console/library", "A book.")] if text.casefold() in "volume 7" else []

    pages = (Nav("Books"), Nav("Add", "add", ("librarian",)))
    return Area("library", "Library", "docs", "green", pages, router, "Books to borrow.", find)


def _as_problem(text: str) -> dict[str, Any]:
    return {"problem": Problem(200, "BOOKS", text), "request_id": None, "start": ""}


def closed(desk: Desk) -> None:
    desk.is_closed = True


LIBRARY = System(
    name="library",
    title="Lending library",
    about="Books to borrow.",
    designs=(library,),
    start=Desk,
    accent="green",
    router=api,
    pages=area,
    people=people,
    seed=seed,
    close=closed,
    translations={Stale: lambda error: Problem(412, "STALE", "It has changed since you read it.")},
)


def db_of(given: Any) -> Db:
    found: Db = given.db
    return found
