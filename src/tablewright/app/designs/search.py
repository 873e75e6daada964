"""Search in the designs: tables, entities and patterns, and the rules of the checker, by name and description."""

from collections.abc import Callable, Collection, Iterator, Sequence

from tablewright.app.people import ENGINEER
from tablewright.app.runtime import Runtime
from tablewright.design.review import RULES
from tablewright.edge import Principal
from tablewright.pages.area import Hit


def finder(runtime: Runtime, *, is_demo: bool) -> Callable[[Principal, str], Sequence[Hit]]:
    """The search of this area. Names of designs are public, but for those that an engineer uploaded."""

    def find(caller: Principal, text: str) -> Sequence[Hit]:
        words = text.casefold().split()
        sees_all = ENGINEER in caller.roles or (is_demo and caller.is_known)
        hidden: Collection[str] = () if sees_all else runtime.uploads.all()
        return [
            hit
            for hit in _everything(runtime, hidden)
            if all(word in f"{hit.title} {hit.about}".casefold() for word in words)
        ]

    return find


def _everything(runtime: Runtime, hidden: Collection[str]) -> Iterator[Hit]:
    for name, (design, _) in runtime.designs.items():
        if name in hidden:
            continue
        base = f"/console/designs/{name}"
        yield Hit(f"Design {name}", base, design.about)
        for table in design.tables.values():
            yield Hit(f"Table {table.name}", f"{base}/tables/{table.name}", table.about)
        for shape in design.shapes:
            yield Hit(f"Entity {shape.tag}", f"{base}/entities/{shape.tag}", shape.about)
        for plan in design.plans:
            yield Hit(f"Pattern {plan.name}", f"{base}/patterns/{plan.name}", plan.about)
    for rule in RULES:
        yield Hit(f"Rule {rule.code}", f"/console/designs/rules/{rule.code}", rule.explanation)
