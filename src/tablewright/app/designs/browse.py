"""Items as they are stored: table or index, page after page, each key recognised; one item with all there is about it.

Any table of the store can be looked at, also one that no design knows. Must hold: places in page tokens are sealed,
since keys may name people; secrets are covered before anything is made of an item (secrets.py).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ValidationError

from tablewright.app.designs.designs import indexes_of, table_of
from tablewright.app.designs.diagrams import Owner, owner_of
from tablewright.app.designs.secrets import covered, covered_model
from tablewright.app.json_words import pretty
from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused, units_of
from tablewright.design import Design, Entity, EntitySpec, Query, States, Table, Write
from tablewright.design.errors import DesignMistake
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.mapping import Db
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.explain import Explanation
from tablewright.mapping.items import is_deleted, is_expired, model_of
from tablewright.mapping.migrate.router import renamed
from tablewright.mapping.page_tokens import TokenCipher
from tablewright.pages.forms import Form, asked, posted
from tablewright.pages.layout import Console, Crumb
from tablewright.pages.lists import Listing, here
from tablewright.values import Value, item_size

_PAGE = 25
_AT_ONCE = 100
_MOST_READ = 2000
_TRAIL = 30


def add_browsing(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("/items", dependencies=guard)
    def items(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        tables = runtime.call("ListTables", {})["TableNames"]
        name = form.get("table") or _first(runtime, tables)
        described = describe(runtime, name) if name else None
        found = _browse(runtime, console, request, described, form) if described else None
        return console.page(
            request, "designs/items.html", title="Items", form=Form({**form.values, "table": name}), tables=tables,
            described=described, found=found, entities=_entities(runtime, name),
        )  # fmt: skip

    def shown_item(request: Request, table: str, typed: Form) -> Response:
        described = describe(runtime, table)
        answer = runtime.call(
            "GetItem",
            {"TableName": table, "Key": typed_key(described, asked(request)), "ConsistentRead": True},
        )
        stored = answer.get("Item")
        if stored is None:
            raise not_found(
                "NO_SUCH_ITEM", f"There is no item with this key in {table}; it may have been deleted."
            )
        return console.page(
            request,
            "designs/item.html",
            title=_title(stored, described),
            crumbs=[Crumb("Items", f"/console/designs/items?{urlencode({'table': table})}"), Crumb(table)],
            table=table,
            **_item_details(runtime, described, stored, typed),
        )

    @router.get("/item", dependencies=guard)
    def item(request: Request, table: str) -> Response:
        return shown_item(request, table, Form())

    # A POST, though nothing is changed: what is typed may be personal, and an address is kept by browsers.
    @router.post("/item", dependencies=guard)
    def explained_item(request: Request, table: str, form: Annotated[Form, Depends(posted)]) -> Response:
        return shown_item(request, table, form)


# --- tables ---


def describe(runtime: Runtime, table: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = runtime.call("DescribeTable", {"TableName": table})["Table"]
    except CallRefused:
        raise not_found("NO_SUCH_TABLE", "There is no table of this name in the store.") from None
    return found


def key_names(schema: Sequence[Mapping[str, str]]) -> list[str]:
    """The hash half first, each half in its order."""
    halves = ("HASH", "RANGE")
    return [part["AttributeName"] for half in halves for part in schema if part["KeyType"] == half]


def _letters(described: Mapping[str, Any]) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}


def _first(runtime: Runtime, tables: Sequence[str]) -> str:
    designed = [runtime.open_table(db, t) for design, db in runtime.designs.values() for t in design.tables]
    return next((name for name in designed if name in tables), tables[0] if tables else "")


def _entities(runtime: Runtime, physical: str) -> list[str]:
    design, table = table_of(runtime, physical)
    return [shape.tag for shape in design.shapes if shape.table == table] if design else []


# --- a page of items ---


def _browse(
    runtime: Runtime, console: Console, request: Request, described: Mapping[str, Any], form: Form
) -> dict[str, Any]:
    physical, index = described["TableName"], form.get("index")
    if index and index not in [each["IndexName"] for each in indexes_of(described)]:
        raise not_found("NO_SUCH_INDEX", f"{physical} has no index of this name.")
    schema = next(
        (i["KeySchema"] for i in indexes_of(described) if i["IndexName"] == index), described["KeySchema"]
    )
    design, table = table_of(runtime, physical)
    ask = _request(described, schema, form)
    seal, binding = TokenCipher(runtime.secret), _binding(physical, index, form)
    reader, now = console.caller(request).subject, runtime.world.now()
    token = request.query_params.get("after")
    place: dict[str, Any] = seal.open(token, binding, reader, now) if token else {"at": None, "trail": []}
    taken, end, units = _fill(
        runtime, ask, place["at"], design, table.name if table else physical, form.get("entity")
    )

    def sealed(at: Any, trail: list[Any]) -> str:
        return here(
            request,
            after=seal.close({"at": at, "trail": trail}, binding, reader, now, runtime.world.new_id()),
        )

    trail = [*place["trail"], place["at"]][-_TRAIL:]
    listing: Listing[Any] = Listing(
        (),
        sealed(end, trail) if end else None,
        sealed(place["trail"][-1], place["trail"][:-1]) if place["trail"] else None,
        here(request, after=None) if token else None,
        units,
    )
    names = list(dict.fromkeys([*key_names(schema), *key_names(described["KeySchema"])]))
    rows = [_row(physical, item, owner, names, described) for item, owner in taken]
    return {"listing": listing, "rows": rows, "names": names, "units": units}


def _binding(physical: str, index: str, form: Form) -> Query[Any]:
    """What a place in this list is good for: this table, this index, these filters."""
    name = f"browse {index} {form.get('entity')} {form.get('partition')}"
    return Query(name, Table("", physical, ""), None, (), (), (), False, False, _PAGE, _PAGE, {})


def _request(
    described: Mapping[str, Any], schema: Sequence[Mapping[str, str]], form: Form
) -> tuple[str, dict[str, Any]]:
    request: dict[str, Any] = {"TableName": described["TableName"], "ReturnConsumedCapacity": "TOTAL"}
    if form.get("index"):
        request["IndexName"] = form.get("index")
    hashes = [part["AttributeName"] for part in schema if part["KeyType"] == "HASH"]
    wanted = form.get("partition").strip()
    if not wanted or len(hashes) > 1:
        return "Scan", request
    value = {_letters(described)[hashes[0]]: wanted}
    return "Query", request | {
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": {"#p": hashes[0]},
        "ExpressionAttributeValues": {":p": value},
    }


def _fill(
    runtime: Runtime,
    ask: tuple[str, dict[str, Any]],
    start: Any,
    design: Design | None,
    table: str,
    entity: str,
) -> tuple[list[tuple[dict[str, Value], Owner]], Any, float]:
    """Items of a page, where the next begins, and what it cost; an entity is looked for until a page is full."""
    verb, request = ask
    taken: list[tuple[dict[str, Value], Owner]] = []
    units, read = 0.0, 0
    while True:
        limit = _PAGE - len(taken) if not entity else _AT_ONCE
        answer = runtime.call(
            verb, request | {"Limit": limit} | ({"ExclusiveStartKey": start} if start else {})
        )
        units += sum(each.read for each in units_of(verb, answer))
        read += len(answer["Items"])
        start = answer.get("LastEvaluatedKey")
        owned = [(item, owner_of(design, table, item)) for item in answer["Items"]]
        taken += [pair for pair in owned if not entity or pair[1].name == entity]
        if start is None or len(taken) >= _PAGE or read >= _MOST_READ:
            return taken, start, units


def _row(
    physical: str, item: Mapping[str, Value], owner: Owner, names: Sequence[str], described: Mapping[str, Any]
) -> dict[str, Any]:
    own = key_names(described["KeySchema"])
    return {
        "owner": owner,
        "href": item_href(physical, item, own),
        "keys": [shown(item.get(name)) for name in names],
        "size": item_size(dict(item)),
        "others": len(item) - len([name for name in names if name in item]),
    }


def shown(value: Value | None, most: int = 70) -> str:
    """A stored value in a few letters."""
    if value is None:
        return ""
    ((kind, content),) = value.items()
    text = str(content) if kind in ("S", "N", "B") else orjson.dumps(content).decode()
    return text if len(text) <= most else text[: most - 1] + "…"


def item_href(physical: str, item: Mapping[str, Value], names: Sequence[str]) -> str:
    """Where one item is shown."""
    key = {f"k.{name}": str(next(iter(item[name].values()))) for name in names}
    return f"/console/designs/item?{urlencode({'table': physical, **key})}"


# --- one item ---


def typed_key(described: Mapping[str, Any], form: Form) -> dict[str, Value]:
    letters = _letters(described)
    return {name: {letters[name]: form.get(f"k.{name}")} for name in key_names(described["KeySchema"])}


def _title(item: Mapping[str, Value], described: Mapping[str, Any]) -> str:
    return " / ".join(shown(item[name], 40) for name in key_names(described["KeySchema"]))


def _item_details(
    runtime: Runtime, described: Mapping[str, Any], stored: dict[str, Value], form: Form
) -> dict[str, Any]:
    physical = described["TableName"]
    design, table = table_of(runtime, physical)
    owner = owner_of(design, table.name if table else physical, stored)
    weight = item_size(stored)
    model, unreadable = _model(owner.shape, stored)
    is_over = bool(owner.shape and is_expired(owner.shape, stored, int(runtime.world.now().timestamp())))
    stored = covered(stored, owner.shape, design, table)
    return {
        "owner": owner,
        "design": design,
        "weight": weight,
        "read_units": max(-(-weight // 4096), 1),
        "write_units": max(-(-weight // 1024), 1),
        "raw": pretty(stored),
        "decoded": _decoded(owner.shape, model),
        "unreadable": unreadable,
        "is_expired": is_over,
        "is_deleted": bool(owner.shape and is_deleted(owner.shape, stored)),
        "indexes": [_standing(index, stored) for index in indexes_of(described)],
        "explained": _explained(runtime, design, owner.shape, model, form) if design and model else None,
    }


def _model(shape: EntitySpec | None, stored: Mapping[str, Value]) -> tuple[BaseModel | None, str]:
    if shape is None:
        return None, ""
    try:
        return covered_model(shape, model_of(shape, stored)), ""
    except ItemUnreadable as mistake:
        return None, str(mistake)


def _decoded(shape: EntitySpec | None, model: BaseModel | None) -> list[tuple[str, str, str]]:
    """Each field with its value, and its data class if it has one."""
    if shape is None or model is None:
        return []
    given = {name: value for name, value in model.model_dump(mode="json").items() if value is not None}
    classes = {name: data.value for name, data in shape.data.items()}
    return [
        (name, value if isinstance(value, str) else orjson.dumps(value).decode(), classes.get(name, ""))
        for name, value in given.items()
    ]


def _standing(index: Mapping[str, Any], stored: Mapping[str, Value]) -> dict[str, Any]:
    """Where an item is in an index, or which attribute keeps it out."""
    names = key_names(index["KeySchema"])
    missing = [name for name in names if name not in stored]
    return {
        "name": index["IndexName"],
        "keys": [(name, shown(stored[name])) for name in names if name in stored],
        "missing": missing,
    }


def _explained(
    runtime: Runtime, design: Design, shape: EntitySpec | None, model: BaseModel, form: Form
) -> dict[str, Any]:
    """The writes one could make of this item, laid open. Nothing is run."""
    assert shape is not None
    _, db = runtime.designs[design.name]
    kind, text = form.get("kind", "change"), form.get("json")
    original = pretty(model.model_dump(mode="json", by_alias=True))
    shown_form = Form({"kind": kind, "json": text or original})
    try:
        after = shape.model.model_validate_json(text or original)
        explanation = db.explain(_write(shape, kind, model, after))
    except ValidationError as mistakes:
        first = mistakes.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return {
            "form": shown_form.wrong("json", f"{where + ': ' if where else ''}{first['msg']}."),
            "calls": (),
        }
    except DesignMistake as mistake:
        return {"form": shown_form.wrong("json", f"{mistake}."), "calls": ()}
    return {
        "form": shown_form,
        "explanation": explanation,
        "calls": [(verb, pretty(body)) for verb, body in open_calls(runtime, db, explanation)],
    }


def open_calls(runtime: Runtime, db: Db, explanation: Explanation) -> list[tuple[str, Mapping[str, Any]]]:
    """The calls of an explanation as they would be sent now: to the tables that are open."""
    tables = [table for design in db.designs for table in design.tables]
    leading = {db.physical(table): runtime.open_table(db, table) for table in tables}
    return [(verb, renamed(body, leading)) for verb, body in explanation.calls]


def _write(shape: EntitySpec, kind: str, before: BaseModel, after: BaseModel) -> Write[Any]:
    entity: Entity[Any, Any] = Entity(shape, shape.model)
    if kind == "create":
        return entity.create(after)
    if kind == "delete":
        return entity.delete(before)
    states = shape.states
    if states is None or _state(before, states) == _state(after, states):
        return entity.change(before, after)
    actors = states.moves.get(_state(before, states), {}).get(_state(after, states), ()) or states.overrides
    return entity.move(before, after, by=next(iter(actors), "anyone"))


def _state(item: BaseModel, states: States) -> str:
    value = getattr(item, states.field)
    return str(getattr(value, "value", value))
