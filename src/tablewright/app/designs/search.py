"""Search in the designs: tables, entities and patterns by name and description."""

from collections.abc import Callable, Iterator, Sequence

from tablewright.app.runtime import Runtime
from tablewright.edge import Principal
from tablewright.pages.area import Hit


def finder(runtime: Runtime) -> Callable[[Principal, str], Sequence[Hit]]:
    """The search of this area. Names of designs are public; items are not searched."""

    def find(caller: Principal, text: str) -> Sequence[Hit]:
        words = text.casefold().split()
        return [
            hit
            for hit in _everything(runtime)
            if all(word in f"{hit.title} {hit.about}".casefold() for word in words)
        ]

    return find


def _everything(runtime: Runtime) -> Iterator[Hit]:
    for name, (design, _) in runtime.designs.items():
        base = f"/console/designs/{name}"
        yield Hit(f"Design {name}", base, design.about)
        for table in design.tables.values():
            yield Hit(f"Table {table.name}", f"{base}/tables/{table.name}", table.about)
        for shape in design.shapes:
            yield Hit(f"Entity {shape.tag}", f"{base}/entities/{shape.tag}", shape.about)
        for plan in design.plans:
            yield Hit(f"Pattern {plan.name}", f"{base}/patterns/{plan.name}", plan.about)
