"""The pages of one item: as it is, changed, added, deleted. A write is shown as its exact request before it is sent.

Must hold: a change or delete fails if the item changed since it was read (item_writes.py); what was typed is kept. Keys
are in the address, as they are of the list; values are only ever posted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.browse import describe, key_letters, key_names
from tablewright.app.designs.choices import chosen
from tablewright.app.designs.derived_attributes import recomputed
from tablewright.app.designs.diagrams import owner_of
from tablewright.app.designs.item_details import item_details
from tablewright.app.designs.item_grid import item_href, shown
from tablewright.app.designs.item_skeletons import refuse_skeleton, skeleton
from tablewright.app.designs.item_writes import (
    ItemUnusable,
    delete_request,
    digest,
    parsed,
    put_request,
    refuse_cover,
    refuse_key,
    uncovered,
    update_request,
)
from tablewright.app.designs.lookup import table_of
from tablewright.app.designs.secrets import covered, secret_in, secret_names
from tablewright.app.designs.table_writes import may_write, refuse_closed, write, writers
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused
from tablewright.design import Design, EntitySpec, Table
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.pages.forms import Form, asked, posted
from tablewright.pages.layout import Console, Crumb
from tablewright.values import Item

CONFLICT = "ConditionalCheckFailedException"
_CHANGED = (
    "Not written: the item changed since you read it. Compare your text with the item as it is now, below; "
    "what differs would be written as you typed it."
)


@dataclass(frozen=True, slots=True)
class Stored:
    """An item of a table, with what the design says of it."""

    described: Mapping[str, Any]
    item: Item
    design: Design | None
    table: Table | None
    shape: EntitySpec | None

    @property
    def names(self) -> list[str]:
        return key_names(self.described["KeySchema"])

    @property
    def physical(self) -> str:
        return str(self.described["TableName"])

    @property
    def known(self) -> list[str]:
        """Attributes that the design gives such an item, whether it has them or not."""
        return [each.stored for each in self.shape.attributes] if self.shape else []

    @property
    def secret(self) -> frozenset[str]:
        return secret_in(self.shape, self.design, self.table)

    def covered(self, item: Item) -> Item:
        return covered(item, self.shape, self.design, self.table)

    def href(self, page: str = "item") -> str:
        return item_href(self.physical, self.item, self.names, page)

    def update(self, after: Item) -> tuple[dict[str, Any], dict[str, Any]]:
        """The request, and the same as a page shows it."""
        before, names = self.item, self.names
        hidden = update_request(self.physical, names, self.covered(before), self.covered(after), self.known)
        return update_request(self.physical, names, before, after, self.known), hidden

    def delete(self) -> tuple[dict[str, Any], dict[str, Any]]:
        hidden = delete_request(self.physical, self.names, self.covered(self.item), self.known)
        return delete_request(self.physical, self.names, self.item, self.known), hidden


def add_item_pages(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard, writes = [Depends(allowed)], writers(console, allowed)

    def shown_item(request: Request, table: str, typed: Form) -> Response:
        stored = _stored(runtime, table, asked(request))
        return console.page(
            request,
            "designs/item.html",
            title=_title(stored),
            crumbs=_crumbs(table),
            table=table,
            edit=stored.href("item/edit"),
            delete=stored.href("item/delete"),
            may_write=may_write(console, request),
            **item_details(runtime, stored.described, stored.item, typed),
        )

    @router.get("/item", dependencies=guard)
    def item(request: Request, table: str) -> Response:
        return shown_item(request, table, Form())

    # A POST, though nothing is changed: what is typed may be personal, and an address is kept by browsers.
    @router.post("/item", dependencies=guard)
    def explained_item(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        return shown_item(request, table, form)

    # --- change ---

    def edit_page(
        request: Request, stored: Stored, form: Form, sent: Any = None, status: int = 200
    ) -> Response:
        return console.page(
            request,
            "designs/item_edit.html",
            title="Change an item",
            crumbs=[*_crumbs(stored.physical), Crumb(_title(stored), stored.href())],
            status=status,
            form=form,
            verb="UpdateItem",
            plan=pretty(sent) if sent else "",
            back=stored.href(),
            owner=stored.shape.tag if stored.shape else "",
            derives=bool(stored.shape and stored.shape.derivations),
            entities=[],
            current=pretty(stored.covered(stored.item)) if status == 409 else "",
            secret=sorted(stored.secret & stored.item.keys()),
        )

    @router.get("/item/edit", dependencies=writes)
    def edit(request: Request, table: str) -> Response:
        refuse_closed(runtime, table)
        stored = _stored(runtime, table, asked(request))
        text = pretty(stored.covered(stored.item))
        return edit_page(
            request, stored, Form({"json": text, "read": digest(runtime.secret, stored.item), "derive": "on"})
        )

    @router.post("/item/edit", dependencies=writes)
    def change(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        stored = _stored(runtime, table, asked(request))
        now = digest(runtime.secret, stored.item)
        if form.get("step") == "edit":
            return edit_page(request, stored, form)
        if form.get("read") != now:
            again = Form({**form.values, "step": "", "read": now}, error=_CHANGED)
            return edit_page(request, stored, again, status=409)
        try:
            after = uncovered(parsed(form.get("json")), stored.item, stored.secret)
            if form.is_ticked("derive"):
                after = recomputed(stored.shape, after)
            sent, hidden = stored.update(after)
            if form.get("step") != "send":
                return edit_page(request, stored, form, hidden)
            write(runtime, "UpdateItem", sent)
        except ItemUnusable as wrong:
            return edit_page(request, stored, form.wrong("json", str(wrong)))
        except CallRefused as refused:
            if refused.name != CONFLICT:
                return edit_page(request, stored, form.wrong("json", f"{refused.message}"))
            stored = _stored(runtime, table, asked(request))
            again = Form(
                {**form.values, "step": "", "read": digest(runtime.secret, stored.item)}, error=_CHANGED
            )
            return edit_page(request, stored, again, status=409)
        return console.go(stored.href(), "The item was changed.")

    # --- delete ---

    def delete_page(request: Request, stored: Stored, error: str = "", status: int = 200) -> Response:
        return console.page(
            request,
            "designs/item_delete.html",
            title="Delete an item",
            crumbs=[*_crumbs(stored.physical), Crumb(_title(stored), stored.href())],
            status=status,
            form=Form({"read": digest(runtime.secret, stored.item)}, error=error),
            plan=pretty(stored.delete()[1]),
            raw=pretty(stored.covered(stored.item)),
            back=stored.href(),
            owner=stored.shape.tag if stored.shape else "",
        )

    @router.get("/item/delete", dependencies=writes)
    def ask_delete(request: Request, table: str) -> Response:
        refuse_closed(runtime, table)
        return delete_page(request, _stored(runtime, table, asked(request)))

    @router.post("/item/delete", dependencies=writes)
    def delete(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        stored = _stored(runtime, table, asked(request))
        error = "Not deleted: the item changed since you read it. This is the item now."
        if form.get("read") != digest(runtime.secret, stored.item):
            return delete_page(request, stored, error, 409)
        try:
            write(runtime, "DeleteItem", stored.delete()[0])
        except CallRefused as refused:
            if refused.name != CONFLICT:
                return delete_page(request, stored, refused.message, 409)
            return delete_page(request, _stored(runtime, table, asked(request)), error, 409)
        return console.go(_list_href(table), "The item was deleted.")

    # --- add ---

    def add_page(
        request: Request, described: Mapping[str, Any], form: Form, sent: Any = None, status: int = 200
    ) -> Response:
        table = described["TableName"]
        return console.page(
            request,
            "designs/item_edit.html",
            title="Add an item",
            crumbs=_crumbs(table),
            status=status,
            form=form,
            verb="PutItem",
            plan=pretty(sent) if sent else "",
            back=_list_href(table),
            owner="",
            derives=False,
            table=table,
            entities=[each.tag for each in _shapes(runtime, table)],
            current="",
            secret=[],
        )

    @router.get("/item/add", dependencies=writes)
    def add(request: Request, table: str) -> Response:
        refuse_closed(runtime, table)
        described = describe(runtime, table)
        tag = chosen(asked(request), "entity", [each.tag for each in _shapes(runtime, table)])
        empty: Item = {name: {letter: ""} for name, letter in key_letters(described).items()}
        for shape in _shapes(runtime, table):
            if shape.tag == tag:
                empty |= skeleton(shape)
        return add_page(request, described, Form({"json": pretty(empty), "entity": tag}))

    @router.post("/item/add", dependencies=writes)
    def put(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        described = describe(runtime, table)
        names = key_names(described["KeySchema"])
        if form.get("step") == "edit":
            return add_page(request, described, form)
        try:
            item = parsed(form.get("json"))
            refuse_key(item, key_letters(described))
            refuse_skeleton(item, _shapes(runtime, table))
            refuse_cover(item, secret_names(*table_of(runtime, table)))
            sent = put_request(table, names, item)
            if form.get("step") != "send":
                return add_page(request, described, form, sent)
            write(runtime, "PutItem", sent)
        except ItemUnusable as wrong:
            return add_page(request, described, form.wrong("json", str(wrong)))
        except CallRefused as refused:
            if refused.name != CONFLICT:
                return add_page(request, described, form.wrong("json", refused.message))
            words = "Not added: there is an item with this key already."
            return add_page(request, described, replace(form, error=words), status=409)
        return console.go(item_href(table, item, names), "The item was added.")


def _stored(runtime: Runtime, table: str, form: Form) -> Stored:
    described = describe(runtime, table)
    key = {name: {letter: form.get(f"k.{name}")} for name, letter in key_letters(described).items()}
    answer = runtime.call("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
    item = answer.get("Item")
    if item is None:
        raise not_found(
            "NO_SUCH_ITEM", f"There is no item with this key in {table}; it may have been deleted."
        )
    design, designed = table_of(runtime, table)
    owner = owner_of(design, designed.name if designed else table, item)
    return Stored(described, item, design, designed, owner.shape)


def _shapes(runtime: Runtime, table: str) -> list[EntitySpec]:
    """The entities of a table, if a design has it."""
    design, designed = table_of(runtime, table)
    return [each for each in design.shapes if each.table == designed] if design else []


def _title(stored: Stored) -> str:
    return " / ".join(shown(stored.item[name], 40) for name in stored.names)


def _list_href(table: str) -> str:
    return f"/console/designs/items?{urlencode({'table': table})}"


def _crumbs(table: str) -> list[Crumb]:
    return [Crumb("Items", "/console/designs/items"), Crumb(table, _list_href(table))]
