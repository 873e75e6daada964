"""Strays: items of the goal that nothing in the origin stands behind: a change was missed, or somebody else wrote.

Must hold: a stray is only a suspicion, a task like any other: whether an item goes is for settling to say.
Elsewhere: who looks for them (copying.py, verifying.py).
"""

from collections.abc import Sequence

from tablewright.client.identity import place_of
from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.migration import Way
from tablewright.mapping.migrate.settling import Task, items_at
from tablewright.values import Item


def strays(bench: Bench, way: Way, page: Sequence[Item]) -> list[Task]:
    """Items of the goal that nothing in the origin stands behind, each as a task of the key it seems to come from.

    On the way back, what the newer form has no place for is left alone.
    """
    homes = {way.place(item): way.homes(item) for item in page}
    origin = items_at(bench, way.origin, [key for keys in homes.values() for key in keys])
    tasks = []
    for item in page:
        stands_for = homes[way.place(item)]
        if not stands_for and way.course == "back":
            continue
        made = [way.made(origin.get(place_of(way.origin.called, key))) for key in stands_for]
        if not any(way.place(item) in each for each in made):
            key = stands_for[0] if stands_for else way.origin.key(item)
            tasks.append(Task(key, (item,)))
    return tasks
