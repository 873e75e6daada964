"""What vector indexes cost: bytes written to them, bytes that searches compare, and bytes they store. Pure.

An entry is four bytes for each dimension and what the index carries of the item: the stated size of the item where it
carries ALL or some, which is the worse. A write or a search is at least 1 024 bytes. The `items` of a search's load are
how many vectors it compares: those of its partition, or all.
"""

from collections.abc import Iterator
from decimal import Decimal

from tablewright.design.cost.calls import calls_per_month, items_per_month
from tablewright.design.cost.fixed import CostContext, priced
from tablewright.design.cost.format import GB, count, gigabytes
from tablewright.design.cost.report import CostLine
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.traits import Load
from tablewright.design.vectors import VectorIndex, parameters_of

LEAST_BYTES = 1024
_UNCHANGED = ("get", "check")


def vectors(context: CostContext) -> Iterator[CostLine]:
    """The lines of all vector indexes of the design."""
    for index in context.design.vectors:
        for shape in context.design.shapes:
            if shape.table == index.table and index.of in shape.stored:
                yield from _writes(context, index, shape)
                yield from _stored(context, index, shape)
    for plan in context.design.searches:
        if plan.load is not None:
            yield _search(context, plan.name, plan.index, plan.load)


def entry_bytes(index: VectorIndex, item_bytes: int) -> int:
    return index.vector_bytes + (0 if index.project == "KEYS_ONLY" else item_bytes)


def _writes(context: CostContext, index: VectorIndex, shape: EntitySpec) -> Iterator[CostLine]:
    for verb, load in shape.load.items():
        if verb in _UNCHANGED or not _is_changed(index, shape, load):
            continue
        each = max(entry_bytes(index, load.item_bytes), LEAST_BYTES)
        times = items_per_month(load, context.times)
        size = times * each
        how = f"{count(times)} writes a month x {count(each)} bytes in {index.name} = {gigabytes(size)}"
        assumed = (
            () if load.changes is not None or verb == "create" else (f"the entry in {index.name} changes",)
        )
        name = f"{shape.tag}.{verb} in {index.name}"
        price = context.prices["vector_write"]
        yield priced("writes", index.table.name, name, size / GB, price, how, assumed)


def _is_changed(index: VectorIndex, shape: EntitySpec, load: Load) -> bool:
    """Whether such a write may change the entry."""
    if load.changes is None or index.project == "ALL":
        return True
    carried = (index.of, *index.searched, *(() if isinstance(index.project, str) else index.project))
    fields = {field for name in carried for field in parameters_of(shape, name)}
    return not fields.isdisjoint(load.changes)


def _stored(context: CostContext, index: VectorIndex, shape: EntitySpec) -> Iterator[CostLine]:
    for kept in context.items:
        if kept.name == shape.tag and kept.table == index.table.name and kept.items:
            each = entry_bytes(index, kept.item_bytes) + kept.overhead
            size = kept.items * each
            how = f"{count(kept.items)} entries of {count(each)} bytes in {index.name} = {gigabytes(size)}"
            name, price = f"{shape.tag} in {index.name}", context.prices["storage"]
            yield priced("storage", index.table.name, name, size / GB, price, how)


def _search(context: CostContext, name: str, index: VectorIndex, load: Load) -> CostLine:
    compared = Decimal(str(load.items)) * entry_bytes(index, load.item_bytes)
    each = max(compared, Decimal(LEAST_BYTES))
    times = calls_per_month(load, context.times)
    size = times * each
    how = f"{count(times)} searches a month x {count(each)} bytes compared = {gigabytes(size)}"
    return priced("reads", index.table.name, name, size / GB, context.prices["vector_search"], how)
