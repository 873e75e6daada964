"""A design's live tables: runs the requests that entities and patterns make.

    db = Db(embedded(engine), portal)
    db.write(tenants.create(tenant), once="signup-1")
    page = db.page(tenants_by_status(status="REGISTERED"), size=50, after=token, reader=principal)

Must hold: two or more writes are one transaction; a refusal has written nothing; reads never show what has expired
or is deleted; every call's units are counted under the name of its pattern. Any number of threads may call.
Elsewhere: running writes (executor.py), what is sent (read_requests.py, write_requests.py), what a refusal means
(error_mapping.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import BaseModel

from tablewright.client import (
    Call,
    CallRefused,
    HttpCall,
    Retries,
    TransactionRefused,
    batch_get,
    batch_write,
    retrying,
    transact_get,
    transact_write,
)
from tablewright.client import pages as paged
from tablewright.client.item_identity import identity_of
from tablewright.design import Design, Entity, Environment, Get, Query, Search, Table, Write
from tablewright.design.large import Large
from tablewright.mapping import executor, pages
from tablewright.mapping.error_mapping import with_key_length_errors
from tablewright.mapping.errors import (
    ActionsRefused,
    AlreadyExists,
    ConditionNotMet,
    NotForBatches,
    NotInOneTransaction,
    NotUnique,
    PageTooLarge,
)
from tablewright.mapping.executor import ATTEMPTS, Executor, Observe, shared_name
from tablewright.mapping.explain import Explanation, explain, explain_search
from tablewright.mapping.items import is_visible, item_of, model_of, models_of, needs_local_filter, shown
from tablewright.mapping.large_objects import INLINE_BYTES, LargeStore, load_large, refuse_old, store_large
from tablewright.mapping.meter import Meter
from tablewright.mapping.page_tokens import TokenCipher
from tablewright.mapping.pages import Match, Page
from tablewright.mapping.read_requests import get_request, query_request, scan_request, search_request
from tablewright.mapping.receipts import RECEIPT_LIFETIME, TABLE, Written, receipt_id, stored_result
from tablewright.mapping.tables import make_tables, table_requests
from tablewright.mapping.update_steps import has_trackers
from tablewright.mapping.write_requests import OWNER, actions
from tablewright.values import Item, Value
from tablewright.world import World, real_world

E = TypeVar("E", bound=BaseModel)

_AT_A_TIME = 100


class Db:
    """Runs requests of one or more designs over a Call."""

    def __init__(
        self,
        call: Call,
        *designs: Design,
        world: World | None = None,
        secret: bytes | None = None,
        environment: Environment | None = None,
        meter: Meter | None = None,
        observe: Observe | None = None,
        objects: LargeStore | None = None,
        inline_bytes: int = INLINE_BYTES,
    ) -> None:
        """Without a secret, page tokens work in this process only. The environment gives tables their names.

        `observe` is around each request: telemetry.py has one. `objects` stores large values over `inline_bytes`.
        """
        for design in designs:
            if not design.is_built:
                design.build()
        self.designs, self.environment = designs, environment
        self.world = world or real_world()
        self.meter = meter or Meter()
        # HttpCall retries already; retries around retries would be a hundred attempts.
        is_patient = isinstance(call, HttpCall) or getattr(call, "is_patient", False)
        self._call = with_key_length_errors(call if is_patient else retrying(call, world=self.world))
        self._observe, self._objects, self._inline_bytes = observe, objects, inline_bytes
        self._executor = Executor(self._ask, self.physical, self.world)
        if secret is None:
            secret = (self.world.new_id() + self.world.new_id()).encode()
        self._seal = TokenCipher(secret)
        self._loads = {plan.name: plan.load for design in designs for plan in design.plans if plan.load}
        self._loads |= {plan.name: plan.load for design in designs for plan in design.searches if plan.load}

    @property
    def call(self) -> Call:
        """The Call beneath, for requests that no design makes."""
        return self._call

    def physical(self, table: str) -> str:
        """The name a table has in this environment."""
        return self.environment.physical(table) if self.environment else table

    def create_tables(self, notify: Callable[[str], None] = lambda name: None) -> None:
        """Make the tables that are missing; TableDiffers if one is there and is another.

        Where the environment says so, those of the designs can be recovered to any moment; receipts need not be.
        """
        requests = [one for design in self.designs for one in table_requests(design, self.environment)]
        days = self.environment.pitr_days if self.environment else 0
        retries = Retries(sleep=self.world.sleep)
        make_tables(self._call, requests, retries=retries, notify=notify, recovery_days=days)
        receipts = {
            "TableName": self.physical(TABLE.name),
            "KeySchema": [{"AttributeName": TABLE.pk, "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": TABLE.pk, "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        }
        make_tables(self._call, [(receipts, TABLE.ttl)], retries=retries, notify=notify)

    # --- reads ---

    def one(self, get: Get[E], *, consistent: bool | None = None, deleted: bool = False) -> E | None:
        """The item, or None if there is none to be seen. `deleted` shows what is deleted softly, too."""
        strong = get.consistent if consistent is None else consistent
        answer = self._ask(get.name, "GetItem", get_request(get, self.physical, strong))
        return self._seen(get, answer.get("Item"), deleted)

    def many(
        self, gets: Sequence[Get[E]], *, consistent: bool | None = None, deleted: bool = False
    ) -> list[E | None]:
        """Many items in few calls, each in its place."""
        found = self.items(gets, consistent=consistent, deleted=deleted)
        pairs = zip(gets, found, strict=True)
        return [None if item is None else model_of(get.shape, item) for get, item in pairs]

    def items(
        self, gets: Sequence[Get[Any]], *, consistent: bool | None = None, deleted: bool = False
    ) -> list[Item | None]:
        """The same as they are stored, for who writes them back as `transact` takes them."""
        strong = any(get.consistent for get in gets) if consistent is None else consistent
        # A key that is given twice is asked for once.
        names = {identity_of(self.physical(get.shape.table.name), get.key): get.name for get in gets}
        name, calls = shared_name(names.values())
        found = self._at_keys(name, [(get.shape.table, get.key) for get in gets], strong, calls)
        return [shown(get.shape, item, self._now, deleted) for get, item in zip(gets, found, strict=True)]

    def holder(
        self, entity: Entity[E, Any], unique: str, *, deleted: bool = False, **fields: object
    ) -> E | None:
        """The item that has a unique value, read through its guard and so always up to date."""
        guard = next(guard for guard in entity.shape.guards if guard.unique.name == unique)
        key = guard.key(fields)
        if key is None:
            return None
        request = {"TableName": self.physical(guard.table.name), "Key": key, "ConsistentRead": True}
        held = self._ask(f"{entity.shape.tag}.holder", "GetItem", request).get("Item")
        if held is None:
            return None
        get: Get[E] = Get(f"{entity.shape.tag}.holder", entity.shape, held[OWNER]["M"], True)
        answer = self._ask(get.name, "GetItem", get_request(get, self.physical, True), calls=0)
        return self._seen(get, answer.get("Item"), deleted)

    def holders(
        self, entity: Entity[E, Any], unique: str, values: Sequence[Mapping[str, object]]
    ) -> list[E | None]:
        """The items that have these values, each in its place: `holder` of many in few calls."""
        name, shape = f"{entity.shape.tag}.holder", entity.shape
        guard = next(guard for guard in shape.guards if guard.unique.name == unique)
        keys = [guard.key(fields) for fields in values]
        asked = [(guard.table, key) for key in keys if key is not None]
        distinct = {identity_of(guard.table.name, key) for _, key in asked}
        held = iter(self._at_keys(name, asked, True, len(distinct)))
        guards = [None if key is None else next(held) for key in keys]
        gets: list[Get[E]] = [Get(name, shape, item[OWNER]["M"], True) for item in guards if item is not None]
        found = self._at_keys(name, [(shape.table, get.key) for get in gets], True, 0)
        owners = iter([self._seen(get, item, False) for get, item in zip(gets, found, strict=True)])
        return [None if item is None else next(owners) for item in guards]

    def together(self, *gets: Get[Any], deleted: bool = False) -> tuple[Any, ...]:
        """Several items as they stood at one moment."""
        asked = [get_request(get, self.physical, False) for get in gets]
        name, calls = shared_name(get.name for get in gets)
        items = transact_get(self._executor.metered(name, calls), asked, world=self.world)
        return tuple(self._seen(get, item, deleted) for get, item in zip(gets, items, strict=True))

    def page(
        self,
        query: Query[E],
        *,
        size: int | None = None,
        after: str | None = None,
        reader: str = "",
        deleted: bool = False,
    ) -> Page[E]:
        """Up to `size` items from where the token `after` ended. Tokens are for one `reader` only."""
        size = query.page if size is None else size
        if not 1 <= size <= query.at_most:
            raise PageTooLarge(query.name, size, query.at_most)
        now = self.world.now()
        places = self._seal.open(after, query, reader, now) if after else {}
        units = [0.0]
        items, more = pages.read_page(query, self._asker(query, deleted, units), places, size)
        token = self._seal.close(more, query, reader, now, self.world.new_id()) if more is not None else None
        return Page(tuple(models_of(query.shapes, items)), token, units[0])

    def token_at(self, query: Query[E], item: E, reader: str = "") -> str | None:
        """The token of what follows an item of a pattern, for who stopped there or turns round.

        None where one item does not say where a list stands: a sharded pattern, or a view without its keys' fields.
        """
        if len(query.partitions) > 1:
            return None
        shape = next(shape for shape in query.shapes if shape.model is type(item))
        keys = (*shape.primary, *(shape.index_keys[query.index.name] if query.index is not None else ()))
        values = item.__dict__
        if any(name not in values for key in keys for name in key.template.fields):
            return None
        place = {"0": {key.name: key.value(values) for key in keys}}
        return self._seal.close(place, query, reader, self.world.now(), self.world.new_id())

    def all(self, query: Query[E], *, deleted: bool = False) -> Iterator[E]:
        """Every item, page after page, as they are wanted."""
        return models_of(query.shapes, pages.read_all(query, self._asker(query, deleted, [0.0]), _AT_A_TIME))

    def first(self, query: Query[E], *, deleted: bool = False) -> E | None:
        """The first item of a pattern, if there is any."""
        found, _ = pages.read_page(query, self._asker(query, deleted, [0.0]), {}, 1)
        return next(models_of(query.shapes, found), None)

    def search(self, search: Search[E], *, deleted: bool = False) -> list[Match[E]]:
        """The items nearest to a vector, nearest first, without their vectors.

        What has expired or is deleted is left out after the search, so there may be fewer than it asked for.
        """
        answer = self._ask(search.name, "SearchVectors", search_request(search, self.physical))
        found = [(one["Item"], one["Score"]) for one in answer["SearchResults"]]
        return [
            Match(model_of(search.shape, item), score)
            for item, score in found
            if shown(search.shape, item, self._now, deleted) is not None
        ]

    def every(self, entity: Entity[E, Any], *, deleted: bool = False) -> Iterator[E]:
        """Every item of an entity as it is when it is come to, in no order: for small tables that are wanted whole.

        Reads, and is charged for, the whole table, with the items of other entities.
        """
        shape = entity.shape
        request = scan_request(shape, self.physical, self._now(), deleted=deleted)
        for answer in paged(self._executor.metered(f"{shape.tag}.every"), "Scan", request):
            # Tables are shared, and only a key tells whose an item is.
            found = (item for item in answer["Items"] if is_visible((shape,), item, deleted))
            yield from (model_of(shape, item) for item in found)

    def overdue(
        self, entities: Sequence[Entity[Any, Any]], before: datetime
    ) -> Iterator[tuple[Entity[Any, Any], Any]]:
        """Items of entities of one table that expired before a moment and are still stored. Reads the whole table."""
        shape = entities[0].shape
        request = scan_request(shape, self.physical, int(before.timestamp()), overdue=True)
        for answer in paged(self._executor.metered(f"{shape.tag}.overdue"), "Scan", request):
            for item in answer["Items"]:
                for found in (entity for entity in entities if entity.shape.recognises(item)):
                    yield found, model_of(found.shape, item)

    def count(self, query: Query[Any], *, deleted: bool = False) -> int:
        """How many there are. Reads, and is charged for, every one of them."""
        if needs_local_filter(query, deleted):
            # The service would count what only we can tell apart.
            return sum(1 for _ in pages.read_all(query, self._asker(query, deleted, [0.0]), _AT_A_TIME))
        now, call, total = self._now(), self._executor.metered(query.name), 0
        for partition in query.partitions:
            request = query_request(query, partition, self.physical, now, deleted=deleted)
            total += sum(page["Count"] for page in paged(call, "Query", {**request, "Select": "COUNT"}))
        return total

    # --- writes ---

    def write(
        self,
        *writes: Write[Any],
        once: str | None = None,
        result: Any = None,
        kept: timedelta = RECEIPT_LIFETIME,
    ) -> Written:
        """Do all of it or nothing. With `once`, a repetition does nothing and gives the first `result`."""
        if not writes:
            return Written()
        if len(writes) == 1 and once is None:
            return executor.write_one(self._executor, writes[0])
        for write in writes:
            if has_trackers(write):
                raise NotInOneTransaction(f"{write.name}: lowest() and highest() need a write of their own")
        # By the designs that are written to, not those this Db knows: it may come to know more.
        designs = {write.shape.table.design for write in writes}
        receipt = receipt_id(once, designs) if once is not None else None
        return executor.transact(self._executor, writes, receipt, result, kept)

    def wire(self, *writes: Write[Any]) -> list[dict[str, Any]]:
        """Writes as actions of a transaction, each followed by those of its guards."""
        planned = [action for write in writes for action in actions(write, self.physical, self._now())]
        return [{action.verb: action.body} for action in planned]

    def transact(self, name: str, asked: Sequence[Mapping[str, Any]]) -> None:
        """Actions in the wire's form as one transaction; ActionsRefused if the condition of one does not hold.

        For what is written so often that a model for each item costs more than the writing (see `items` and `wire`).
        What the conditions are is the caller's business here.
        """
        try:
            transact_write(self._executor.metered(name), asked, world=self.world)
        except TransactionRefused as refusal:
            failed = {one.position: one.item for one in executor.failed_conditions(refusal)}
            if not failed:
                raise
            raise ActionsRefused(name, failed) from None

    def done(self, once: str, *designs: Design) -> Written | None:
        """What `write(..., once=once)` left behind, or None if it was not done or is forgotten.

        For who has to look before writing; `designs` are those the write touched, all of this Db's if none is named.
        """
        id = receipt_id(once, {design.name for design in designs or self.designs})
        key = {TABLE.pk: {"S": id}}
        request = {"TableName": self.physical(TABLE.name), "Key": key, "ConsistentRead": True}
        item = self._ask("receipts.get", "GetItem", request).get("Item")
        if item is None or float(item["expires"]["N"]) <= self._now():
            return None
        return Written(True, stored_result(item))

    def apply(self, write: Write[E]) -> E:
        """Run one update and return the item as it is now."""
        if write.kind not in ("update", "upsert"):
            raise NotInOneTransaction(
                f"{write.name}: only update and upsert return what the store made of them"
            )
        item: E = model_of(write.shape, executor.update(self._executor, write, "ALL_NEW"))
        return item

    def get_or_create(self, write: Write[E]) -> tuple[E, bool]:
        """The item that a create makes, or the one that is there already: by its key or a unique value.

        True if it was created now. Of any number of callers at once, one creates.
        """
        if write.kind != "create" or write.item is None:
            raise NotInOneTransaction(f"{write.name}: get_or_create takes a create")
        for _ in range(ATTEMPTS):
            try:
                self.write(write)
                return write.item, True
            except NotUnique as taken:
                key = taken.owner
            except AlreadyExists as taken:
                key = taken.key
            if key is not None:
                get: Get[E] = Get(f"{write.shape.tag}.get_or_create", write.shape, key, True)
                there = self.one(get, deleted=True)
                if there is not None:
                    return there, False
        why = "get_or_create gave up after 20 attempts: the item keeps being created and deleted concurrently"
        raise ConditionNotMet(write.shape.tag, write.key, why)

    def batch(self, writes: Iterable[Write[Any]]) -> list[Write[Any]]:
        """Many puts and discards, not as one; returns those left undone. Conditions have no place here."""
        requests: dict[str, list[Mapping[str, Any]]] = {}
        sent: dict[tuple[str, str], Write[Any]] = {}
        keys: dict[str, Sequence[str]] = {}
        for write in writes:
            if write.kind not in ("put", "delete") or write.before is not None or write.when_:
                raise NotForBatches(f"{write.name} carries a condition; use write(), or put() and discard()")
            table = self.physical(write.shape.table.name)
            refuse_old(write, self._now())
            request: Mapping[str, Any] = {"DeleteRequest": {"Key": dict(write.key)}}
            if write.item is not None:
                request = {"PutRequest": {"Item": item_of(write.shape, write.item)}}
            requests.setdefault(table, []).append(request)
            sent[identity_of(table, write.key)] = write
            keys[table] = write.shape.table.key_names
        name, calls = shared_name(write.name for write in sent.values())
        left = batch_write(self._executor.metered(name, calls), requests, world=self.world)
        undone = [
            (table, request.get("PutRequest", {}).get("Item") or request["DeleteRequest"]["Key"])
            for table, rest in left.items()
            for request in rest
        ]
        return [
            sent[identity_of(table, {name: item[name] for name in keys[table]})] for table, item in undone
        ]

    def clear(self, query: Query[Any]) -> int:
        """Remove everything that lies where a query of the table looks, and say how much it was.

        Whatever it is: what has expired and was not swept yet, what is deleted softly, what no entity knows. Nothing
        else follows from it: a guard of a unique value stays, unless it lies there too.
        """
        if query.index is not None:
            raise NotForBatches(f"{query.name} looks at an index; name a query of the table itself")
        gone, call = 0, self._executor.metered(f"{query.name}.clear")
        for partition in query.partitions:
            bare = replace(query, shapes=(), filters=())
            request = query_request(bare, partition, self.physical, self._now())
            names = {f"#k{n}": name for n, name in enumerate(query.table.key_names)}
            request |= {"ConsistentRead": True, "ProjectionExpression": ", ".join(names)}
            request["ExpressionAttributeNames"] = {**request["ExpressionAttributeNames"], **names}
            for answer in paged(call, "Query", request):
                keys = [{"DeleteRequest": {"Key": key}} for key in answer["Items"]]
                table = self.physical(query.table.name)
                if batch_write(call, {table: keys}, world=self.world):
                    raise CallRefused("ProvisionedThroughputExceededException", "not everything was removed")
                gone += len(keys)
        return gone

    def large(self, content: bytes) -> Large:
        """A value of a field `Large`, to be written within an hour; one that is large is stored as an object now."""
        return store_large(self._objects, content, self._inline_bytes, self.world)

    def content(self, value: Large) -> bytes:
        """The bytes of a large value, verified; ObjectLost."""
        return load_large(self._objects, value)

    def explain(
        self, request: Get[Any] | Query[Any] | Search[Any] | Write[Any], *more: Write[Any]
    ) -> Explanation:
        """The exact DynamoDB request, the index it uses and the units it will cost, without running it."""
        if isinstance(request, Search):
            return explain_search(request, self.physical, self._loads.get(request.name))
        return explain((request, *more), self.physical, self._now(), self._loads)

    # --- parts: calls ---

    def _now(self) -> int:
        return int(self.world.now().timestamp())

    def _ask(self, name: str, verb: str, request: Mapping[str, Any], calls: int = 1) -> dict[str, Any]:
        answer = self._send(name, verb, {**request, "ReturnConsumedCapacity": "TOTAL"}, calls)
        self.meter.count(name, verb, answer, calls)
        return answer

    def _send(self, name: str, verb: str, request: Mapping[str, Any], calls: int) -> dict[str, Any]:
        if self._observe is None:
            return self._call(verb, request)
        return self._observe(self._call, name, verb, request, calls)

    def _at_keys(
        self, name: str, places: Sequence[tuple[Table, Mapping[str, Value]]], strong: bool, calls: int
    ) -> list[Item | None]:
        """Many items in few calls, each in its place."""
        if not places:
            return []
        keys: dict[str, list[Mapping[str, Value]]] = {}
        names: dict[str, Sequence[str]] = {}
        for table, key in places:
            physical = self.physical(table.name)
            keys.setdefault(physical, []).append(key)
            names[physical] = table.key_names
        found = batch_get(self._executor.metered(name, calls), keys, consistent=strong, world=self.world)
        if found.unread:
            raise CallRefused("ProvisionedThroughputExceededException", "a batch was not read to its end")
        items = {
            identity_of(table, {name: item[name] for name in names[table]}): item
            for table, item in found.items
        }
        return [items.get(identity_of(self.physical(table.name), key)) for table, key in places]

    def _asker(self, query: Query[Any], deleted: bool, units: list[float]) -> pages.ReadPartition:
        now, sieved, calls = self._now(), needs_local_filter(query, deleted), [1]
        requests = [
            query_request(query, partition, self.physical, now, deleted=deleted)
            for partition in query.partitions
        ]

        def ask(
            number: int, start: Mapping[str, Value] | None, limit: int
        ) -> tuple[Sequence[Item], Mapping[str, Value] | None]:
            request = {**requests[number], "Limit": limit, "ReturnConsumedCapacity": "TOTAL"}
            if start is not None:
                request["ExclusiveStartKey"] = start
            answer = self._send(query.name, "Query", request, calls[0])
            units[0] += self.meter.count(query.name, "Query", answer, calls[0])
            calls[0] = 0
            items = answer["Items"]
            if sieved:
                items = [item for item in items if is_visible(query.shapes, item, deleted)]
            return items, answer.get("LastEvaluatedKey")

        return ask

    def _seen(self, get: Get[E], item: Item | None, deleted: bool) -> E | None:
        item = shown(get.shape, item, self._now, deleted)
        return None if item is None else model_of(get.shape, item)
