"""Rules about writers at the same time: races, split writes, clocks, states, deliveries, regions."""

import re

from tablewright.design.review.facts import Facts
from tablewright.design.review.lookup import (
    TIMES,
    declared,
    entities_of,
    entity_named,
    holes,
    table_named,
    template_of,
)
from tablewright.design.review.rule import Violation, Violations, rule, rules_in

_VOLATILE = ("create_task", "thread", "settimeout", "goroutine", "background task")
_BROAD = ("Exception", "ClientError", "BaseException")


@rule("CC-CHECK-ACT", "error", "hold it by a condition, a guard item or a transaction")
def cc_check_act(facts: Facts) -> Violations:
    """A limit or a uniqueness is held by a read before the write, or by nothing.
    Two writers at once both read that there is room, and both write."""
    for each in facts.invariants:
        if each.held_by in ("", "read before write"):
            yield Violation(each.name, each.line, f"it is held by {each.held_by or 'nothing'}")


@rule("CC-UNIQUE", "error", "write a guard item in the same transaction")
def cc_unique(facts: Facts) -> Violations:
    """A value is to be unique, and it is neither the table's key nor guarded.
    An index does not hold uniqueness: two items with one value are both stored."""
    for entity in facts.entities:
        table = table_named(facts, entity.table)
        own = {table.hash.name} if table else set()
        for attribute in entity.attributes:
            if attribute.unique and attribute.name not in own and attribute.name not in entity.guards:
                yield Violation(
                    f"{entity.name}.{attribute.name}", attribute.line, "it is unique and has no guard"
                )
                for key in entity.keys:
                    if attribute.name in holes(key.template):
                        why = f"'{key.template}' is to be unique and has no guard"
                        yield Violation(f"{entity.name}.{key.attribute}", key.line, why)
        for index in facts.indexes:
            if not index.one or index.table != entity.table:
                continue
            template = template_of(entity, index.hash.name)
            names = holes(template.template) if template else (index.hash.name,)
            found = [declared(entity, name) for name in names]
            random = any(each and each.format in ("uuid", "ulid", "id") for each in found)
            guarded = any(name in entity.guards for name in names)
            if all(found) and not random and not guarded and (template is None or holes(template.template)):
                line = template.line if template else found[0].line if found[0] else index.line
                why = f"{index.name} is to return one item for a value, and nothing holds that"
                yield Violation(f"{entity.name}.{index.hash.name}", line, why)


@rule("CC-RMW", "error", "add the version that was read as a condition, or write only what changes")
def cc_rmw(facts: Facts) -> Violations:
    """An item is read, changed and written back without a version.
    What another writer stored between the two is lost."""
    for call in facts.calls:
        if call.item_from and call.verb in ("put", "batch_write") and call.condition is None:
            yield Violation(call.name, call.item_from.line, f"it writes back {call.item_from.text}")


@rule("CC-SPLIT", "warning", "write them in one transaction")
def cc_split(facts: Facts) -> Violations:
    """Something is true of two items, and they are written one after the other.
    A crash between the two, or a failure of the second, leaves it false."""
    for each in facts.units_of_work:
        if len(each.writes) > 1 and not each.transaction:
            yield Violation(each.name, each.line, f"{' and '.join(each.writes)} are separate: {each.keeps}")


@rule("CC-CLOCK", "warning", "compare a version number")
def cc_clock(facts: Facts) -> Violations:
    """Which of two writes wins is decided by a clock.
    Clocks differ: a late write with an early clock is lost, and two in one instant are not told apart."""
    for call in facts.calls:
        entity = entity_named(facts, call.entity)
        text = call.condition
        for name in re.findall(r"([A-Za-z_]\w*)\s*[<>]", text.text) if text else ():
            attribute = declared(entity, name) if entity else None
            if attribute and attribute.format in TIMES and text:
                yield Violation(call.name, text.line, f"'{name}' is a time, and decides")
    for conflict in facts.conflicts:
        if conflict.kind == "clock":
            yield Violation(f"{conflict.entity}.{conflict.by}", conflict.line, "the later time wins")


@rule("CC-STATE", "error", "add the state it moves from as a condition")
def cc_state(facts: Facts) -> Violations:
    """A write sets a state without a condition on the state before.
    Any move is then possible, also from a state that another writer has just set."""
    for machine in facts.machines:
        for call in facts.calls:
            if call.entity != machine.entity or call.verb != "update":
                continue
            for each in call.sets:
                text = call.condition.text if call.condition else ""
                if each.path == machine.attribute and machine.attribute not in text:
                    line = call.function.line if call.function else each.line
                    yield Violation(call.name, line, f"it sets {each.path} from any state")


@rule("CC-STATE-MAP", "error", "keep one list of moves")
def cc_state_map(facts: Facts) -> Violations:
    """Two places list different moves of a state machine.
    One of them is not what the system does."""
    for machine in facts.machines:
        moves = {
            (start, move.end, move.source): move.line
            for move in machine.moves
            for start in (machine.states if move.start == "*" else (move.start,))
            if start != move.end
        }
        sources = {source for _, _, source in moves}
        for (start, end, source), line in moves.items():
            for other in sources - {source}:
                if (start, end, other) in moves:
                    continue
                why = f"{start} to {end} is in {source} and not in {other}"
                yield Violation(f"{machine.entity}.{machine.attribute}", line, why)
                for (_, to, place), beside in moves.items():
                    if place == other and to == end:
                        yield Violation(f"{machine.entity}.{machine.attribute}", beside, why)


@rule("CC-DEDUP", "warning", "write a receipt of the event in the same transaction")
def cc_dedup(facts: Facts) -> Violations:
    """A count is fed by events that may be delivered twice.
    Each second delivery counts again, and no later check can find it."""
    for feed in facts.feeds:
        if feed.delivery == "at least once" and feed.counts and not feed.receipt:
            yield Violation(feed.name, feed.line, f"a second delivery adds to {feed.counts} again")


@rule("CC-MODULO", "warning", "compare with the last position that was done")
def cc_modulo(facts: Facts) -> Violations:
    """Work is started when a count is a multiple of a number.
    Two increments between the reads skip the multiple, and the work is not done."""
    for trigger in facts.triggers:
        if "%" in trigger.when:
            yield Violation(trigger.name, trigger.line, f"'{trigger.when}' may never be seen")


@rule("CC-VOLATILE", "error", "store the work as a job that survives a restart")
def cc_volatile(facts: Facts) -> Violations:
    """Work is started in the memory of the process that serves the request.
    A restart loses it, and nothing starts it again."""
    for trigger in facts.triggers:
        if trigger.runs and any(word in trigger.runs.text.lower() for word in _VOLATILE):
            yield Violation(trigger.name, trigger.runs.line, f"{trigger.runs.text} is lost with its process")


@rule("CC-HOTITEM", "warning", "buffer the counts, or spread them over several items")
def cc_hotitem(facts: Facts) -> Violations:
    """One item is updated by every request.
    An item takes 1000 write units a second, and all writers of it wait for each other."""
    for entity in facts.entities:
        table = table_named(facts, entity.table)
        for attribute in entity.attributes:
            if attribute.counter and attribute.changes.startswith("every"):
                busy = table is not None and table.writes > 0
                line = table.writes_line if table and busy else attribute.line
                evidence = f"{table.writes:g} writes a second" if table and busy else ""
                why = f"{attribute.name} counts {attribute.changes}"
                yield Violation(f"{entity.name}.{attribute.name}", line, why, evidence)


@rule("CC-MONOTONE", "warning", "write it under the condition that the new value is later, or earlier")
def cc_monotone(facts: Facts) -> Violations:
    """The first or the last time of something is overwritten without a condition.
    An event that arrives late sets the last time back."""
    for call in facts.calls:
        entity = entity_named(facts, call.entity)
        for each in call.sets:
            attribute = declared(entity, each.path) if entity else None
            text = call.condition.text if call.condition else ""
            if call.verb == "update" and attribute and attribute.tracks and each.path not in text:
                line = call.update.line if call.update else each.line
                yield Violation(
                    call.name, line, f"{each.path} is the {attribute.tracks} time and is overwritten"
                )


@rule("CC-REGION", "error", "write in one region, and promote another only when the first is fenced")
def cc_region(facts: Facts) -> Violations:
    """A table is written in several regions, and an invariant rests on conditions.
    A condition sees one region only: both regions accept what excludes each other."""
    held = [each.name for each in facts.invariants]
    held += [f"the states of {each.entity}" for each in facts.machines]
    for replica in facts.replicas:
        if replica.writers == "every region" and held:
            yield Violation(
                f"{replica.table} in {replica.region}", replica.line, f"{', '.join(held[:3])} would not hold"
            )


@rule("CC-CACHE-FIRST", "warning", "write the store first, then the cache")
def cc_cache_first(facts: Facts) -> Violations:
    """A write goes to the cache before it goes to the store.
    If the store refuses it, readers see something that was never stored."""
    for flow in facts.flows:
        for before, after in zip(flow.steps, flow.steps[1:], strict=False):
            if before.text == "cache" and after.text == "store":
                yield Violation(flow.name, before.line, "the cache is written before the store")


@rule("CC-NOVERSION", "error", "add a version attribute, and a condition on it in each update")
def cc_noversion(facts: Facts) -> Violations:
    """Optimistic locking is claimed, people edit an item, or it has states, and the entity has no version.
    Without one the second of two edits replaces the first."""
    without = [entity.name for entity in facts.entities if not entity.version]
    for claim in facts.locking:
        if without:
            yield Violation(claim.text, claim.line, f"{', '.join(without)} have no version")
    for pattern in facts.patterns:
        for entity in entities_of(facts, pattern.table):
            if pattern.verb == "update" and pattern.entity in ("", entity.name) and not entity.version:
                yield Violation(pattern.name, pattern.line, f"{entity.name} has no version")
    for machine in facts.machines:
        if machine.version == "":
            why = f"it has the states of {machine.attribute} and no version"
            yield Violation(machine.entity, machine.line, why)


@rule("CC-UNION", "warning", "compute the wanted state from all sources, and make the resource equal to it")
def cc_union(facts: Facts) -> Violations:
    """Several sources drive one external resource, and nothing says how they are combined.
    When one of them ends it removes what another still needs."""
    for each in facts.externals:
        if len(each.drivers) > 1 and not each.combined:
            yield Violation(each.name, each.line, f"{', '.join(each.drivers)} each drive it")


@rule("CC-MASKED", "warning", "handle each error by its name, and raise the others")
def cc_masked(facts: Facts) -> Violations:
    """A handler catches more errors than it tells apart.
    Throttling, missing rights and mistakes are dropped, or are treated as a conflict."""
    for call in facts.calls:
        for handler in call.errors:
            if handler.catches in _BROAD and handler.others != "raised":
                yield Violation(
                    call.name, handler.line, f"{handler.catches}: other errors are {handler.others}"
                )


RULES = rules_in(globals())
