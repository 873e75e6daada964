"""Orphans: items of the goal that no item of the origin stands for, after a missed change or a foreign write.

Must hold: an orphan found here is only a task like any other; sync_keys decides whether the item is deleted.
Elsewhere: the callers (backfill.py, verifier.py).
"""

from collections.abc import Sequence

from tablewright.client.item_identity import identity_of
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.migration import Direction
from tablewright.mapping.migrate.sync_keys import Task, read_items
from tablewright.values import Item


def find_orphans(context: MigrationContext, direction: Direction, page: Sequence[Item]) -> list[Task]:
    """The orphans of a page of the goal, each as a task for the key it seems to come from.

    In the direction `back`, items that the newer version cannot express are left alone.
    """
    homes = {direction.place(item): direction.origin_keys(item) for item in page}
    origin = read_items(context, direction.origin, [key for keys in homes.values() for key in keys])
    tasks = []
    for item in page:
        stands_for = homes[direction.place(item)]
        if not stands_for and direction.course == "back":
            continue
        made = [direction.made(origin.get(identity_of(direction.origin.called, key))) for key in stands_for]
        if not any(direction.place(item) in each for each in made):
            key = stands_for[0] if stands_for else direction.origin.key(item)
            tasks.append(Task(key, (item,)))
    return tasks
