"""The page Heat of a design: its stated load on partitions, simulated; which keys are hot, and what cures them.

Must hold: a page answers in seconds at every load it takes, so a sample is simulated (design/heat), at most
MOST_TIMES the load; page and picture show the same simulation.
Elsewhere: the same in a terminal, exact to the second, at any load and beside live tables (cli/design/heat.py).
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.choices import chosen, refuse_unknown
from tablewright.app.designs.cost import typed_number
from tablewright.app.designs.lookup import command_name, find_design
from tablewright.app.designs.pictures import PICTURE_POLICY
from tablewright.app.runtime import Runtime
from tablewright.design import Design
from tablewright.design.cost import STATE_LOAD
from tablewright.design.heat import SPLIT_AFTER, Heat, KeyLoad, Outcome, heat_of, heat_picture
from tablewright.design.partitions import PARTITION, PEAK
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.security import CONTENT_POLICY
from tablewright.english import number, plural
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console, Crumb

# What the page's address may say.
ASKED = ("times", "minutes")
MOST_TIMES = Decimal(10_000)
_MINUTES = {"5": "5 minutes", "15": "15 minutes", "60": "1 hour"}
_SCALES = (1, 10, 100, 1000, 10_000)
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class HotKey:
    """A row of the table: a key template of a table or index, and what the load does to it, in words."""

    place: str
    key: str
    kind: str
    keys: str
    calls: str
    hottest: str
    throttled: str
    when: str
    cure: str
    why: str
    tone: str


def add_heat(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard = [Depends(allowed)]

    @router.get("/{design}/heat.svg", dependencies=guard)
    def picture(design: str, form: Annotated[Form, Depends(asked)]) -> Response:
        found, _ = find_design(runtime, design)
        _, times, minutes = _choices(form)
        drawn = heat_picture(_sampled(found, times, minutes))
        return Response(drawn, media_type="image/svg+xml", headers={CONTENT_POLICY: PICTURE_POLICY})

    @router.get("/{design}/heat", dependencies=guard)
    def heat(request: Request, design: str, form: Annotated[Form, Depends(asked)]) -> Response:
        found, _ = find_design(runtime, design)
        form, times, minutes = _choices(form)
        result = _sampled(found, times, minutes)
        named = command_name(runtime, found)
        return console.page(
            request,
            "designs/heat.html",
            title="Heat",
            crumbs=[Crumb(found.name, f"/console/designs/{found.name}")],
            design=found,
            form=form,
            minutes=list(_MINUTES.items()),
            scales=[(number(each), _at(found, each, minutes), each == times) for each in _SCALES],
            heat=result,
            rows=[hot_key(each) for each in result.throttled or result.outcomes[:_SHOWN]],
            picture=f"/console/designs/{found.name}/heat.svg?{urlencode(_asked(times, minutes))}",
            limits=PARTITION,
            peak=PEAK,
            split_after=SPLIT_AFTER,
            state_load=STATE_LOAD,
            room=_room(result),
            command=f"tablewright design heat {named} --times {times:f} --seconds {60 * minutes}"
            if named and times == int(times)
            else "",
        )


def _choices(form: Form) -> tuple[Form, Decimal, int]:
    """What was typed, with a mistake beside its field; a multiplier that does not fit counts as 1."""
    refuse_unknown(form, ASKED)
    minutes = chosen(form, "minutes", list(_MINUTES), "15")
    times = typed_number(form, "times", Decimal(1))
    if times is None or not 0 < times <= MOST_TIMES:
        form, times = (
            form.wrong("times", f"Enter a number above 0, up to {number(int(MOST_TIMES))}."),
            Decimal(1),
        )
    return Form({**_asked(times, int(minutes)), **form.values}, form.errors), times, int(minutes)


def _asked(times: Decimal, minutes: int) -> dict[str, str]:
    return {"times": f"{times:f}", "minutes": str(minutes)}


def _at(design: Design, times: int, minutes: int) -> str:
    return f"/console/designs/{design.name}/heat?{urlencode(_asked(Decimal(times), minutes))}"


@lru_cache(maxsize=64)
def _sampled(design: Design, times: Decimal, minutes: int) -> Heat:
    """A built design does not change, so a simulation is made once for the page and its picture."""
    return heat_of(design, times, seconds=60 * minutes, is_sample=True)


def _room(heat: Heat) -> str:
    """At how many times this load the hottest key alone reaches the limit of a partition."""
    most = max((each.hottest_units / each.load.limit for each in heat.outcomes), default=0.0)
    return f"{number(int(1 / most))} times this load" if most and most <= 0.5 else ""


def hot_key(outcome: Outcome) -> HotKey:
    load = outcome.load
    use = 100 * outcome.hottest_units / load.limit
    cure, why, tone = _cure(outcome)
    first, last = outcome.tally.first, outcome.tally.last
    return HotKey(
        f"{load.table}, {load.index}" if load.index else load.table,
        load.key,
        f"{load.kind}s",
        plural(load.keys, "value") + _of_keys(load),
        ", ".join(dict.fromkeys(load.calls)),
        _percent(use),
        _percent(100 * outcome.share) if outcome.tally.throttled else "none",
        f"from second {first} to {last}" if first is not None else "",
        cure,
        why,
        tone,
    )


def _of_keys(load: KeyLoad) -> str:
    """What is to be known of the number of values: that it is assumed, or that the load is on some of them."""
    if load.busy < load.keys:
        return f", {number(load.busy)} busy at a time"
    return ", assumed" if load.how == "assumed" else ""


def _cure(outcome: Outcome) -> tuple[str, str, str]:
    """What helps, why nothing less does, and the colour of it."""
    if outcome.tally.first is None:
        return "Nothing to do", "", ""
    if outcome.has_ended:
        return (
            "A split of the partition",
            f"DynamoDB makes it; it has ended the throttling by second {outcome.tally.last}.",
            "warn",
        )
    if outcome.shards > 1:
        why = f"A split alone does not help: {outcome.load.whole}." if outcome.load.whole else ""
        return f"Spread the key over {outcome.shards} shards", why, "bad"
    return "Cure the hotter keys", "They are in the same partitions; this key alone is not too hot.", "warn"


def _percent(value: float) -> str:
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %" if value >= 0.1 else "under 0.1 %"
