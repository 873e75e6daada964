"""Steps for autoscaling, which is another service's: what is scaled, between which units. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from tablewright.mapping.deploy import requests
from tablewright.mapping.deploy.states import Dimension, TableState
from tablewright.mapping.deploy.steps import Step

_NOT_HERE = "this endpoint has no Application Auto Scaling (or name one with --scaling-endpoint)"


def stop_scaling(wanted: TableState, live: TableState) -> Iterator[Step]:
    """What is scaled and is not to be; before its units are taken away."""
    for dimension, bounds in (live.scaling or {}).items():
        if dimension not in (wanted.scaling or {}):
            call = requests.stop_scaling(wanted.name, dimension)
            yield Step(
                wanted.name, "stop", _subject(dimension), str(bounds), "not scaled", (call,), is_scaling=True
            )


def start_scaling(wanted: TableState, live: TableState) -> Iterator[Step]:
    """What is to be scaled and is not, or between other units."""
    aims = wanted.scaling or {}
    if live.scaling is None:
        if aims:
            design = f"{len(aims)} units are to be scaled, such as {next(iter(aims.values()))}"
            sides = ("not told", design)
            yield Step(wanted.name, "set", "autoscaling", *sides, needs="endpoint", advice=_NOT_HERE)
        return
    for dimension, bounds in aims.items():
        have = live.scaling.get(dimension)
        if have != bounds:
            # A rule that exists is changed, whatever its name: two would work against each other.
            named = replace(bounds, policy=have.policy) if have and have.policy else bounds
            calls = requests.scale(wanted.name, dimension, named)
            sides = (str(have or "not scaled"), str(bounds))
            yield Step(wanted.name, "set", _subject(dimension), *sides, calls, is_scaling=True)


def _subject(dimension: Dimension) -> str:
    index, what = dimension
    return f"autoscaling of {what.lower()} units" + (f" of index {index}" if index else "")
