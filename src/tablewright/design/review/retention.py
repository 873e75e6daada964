"""Rules about time and retention: how times are written, what expires, and what rests on it."""

from tablewright.design.review.facts import Facts
from tablewright.design.review.lookup import has_personal_data, index_key_names, table_named
from tablewright.design.review.rule import Violation, Violations, rule, rules_in


@rule("TIME-WIDTH", "error", "write times in UTC with a fixed number of digits")
def time_width(facts: Facts) -> Violations:
    """A time whose text varies in width is in a key or is compared.
    isoformat() leaves out the fraction when it is zero, and such a text sorts behind later ones."""
    keys = {name for table in facts.tables for name in index_key_names(facts, table.name)}
    keys |= {key.name for table in facts.tables for key in (table.hash, table.range) if key}
    for time in facts.times:
        varies = "isoformat()" in time.expression and "date()" not in time.expression
        used = [name for name in time.feeds if name in keys or name == "comparison"]
        if varies and used:
            yield Violation(time.name, time.line, f"'{time.expression}' goes into {', '.join(used)}")


@rule("TIME-NAIVE", "error", "use a time with a zone: datetime.now(UTC)")
def time_naive(facts: Facts) -> Violations:
    """A time without a zone is converted to seconds since 1970.
    The conversion takes the zone of the machine, so the result is hours off wherever that is not UTC."""
    for time in facts.times:
        naive = "utcnow()" in time.expression or "now()" in time.expression
        if naive and ".timestamp()" in time.expression:
            yield Violation(time.name, time.line, f"'{time.expression}' has no zone")


@rule("TIME-ZONE", "warning", "store the zone with the owner, and compute in it")
def time_zone(facts: Facts) -> Violations:
    """A rule is about the time of day or the calendar, and no zone is stated.
    It begins and ends hours early or late for people elsewhere."""
    for each in facts.local_times:
        if not each.zone:
            yield Violation(each.name, each.line, "no zone is stated")


@rule("TIME-OVERNIGHT", "warning", "say that a window belongs to the day on which it starts")
def time_overnight(facts: Facts) -> Violations:
    """A window ends before it starts, and nothing says to which day it belongs.
    The hours after midnight of the last day are then missing, or those of the first too many."""
    for each in facts.local_times:
        if each.start and each.end and each.end <= each.start and not each.day_rule:
            yield Violation(
                each.name, each.start_line or each.line, f"from {each.start} to {each.end} has no day rule"
            )


@rule("TTL-ATTRIBUTE", "error", "derive a Number of epoch seconds, and enable TTL on it")
def ttl_attribute(facts: Facts) -> Violations:
    """Items are to expire, and no attribute holds the time as a Number of epoch seconds.
    DynamoDB deletes nothing that has no such attribute."""
    for each in facts.retentions:
        if not each.ttl:
            continue
        found = [
            a for e in facts.entities for a in e.attributes if a.name == each.attribute and a.type == "N"
        ]
        if not each.attribute or not found:
            yield Violation(each.subject, each.line, f"{each.period}: no numeric attribute for it")


@rule("TTL-PROMPT", "warning", "hide expired items in each read")
def ttl_prompt(facts: Facts) -> Violations:
    """Something must end at a time, and rests on the deletion by TTL alone.
    DynamoDB deletes within some days: until then reads still return the item."""
    for each in facts.retentions:
        if each.ttl and each.enforces and not each.filtered:
            yield Violation(each.subject, each.line, f"'{each.enforces}' is late by up to some days")


@rule("TTL-PARENT", "error", "let the parent live as long as its longest child")
def ttl_parent(facts: Facts) -> Violations:
    """A parent expires before items that belong to it.
    They are then without a parent: not listed, not authorised, not erased."""
    for child in facts.retentions:
        for parent in facts.retentions:
            if not child.parent or parent.entity != child.parent or parent.rolls or not parent.ttl:
                continue
            outlives = child.days is None or (parent.days is not None and parent.days <= child.days)
            if outlives:
                why = f"{parent.entity} goes after {parent.period}, {child.entity} after {child.period}"
                yield Violation(parent.subject, parent.line, why)
                yield Violation(child.subject, child.line, why)


@rule("TTL-HANDLE", "error", "remove the resource when the stream shows the deletion")
def ttl_handle(facts: Facts) -> Violations:
    """TTL deletes the item that holds the only id of an external resource.
    The resource stays for ever, and nothing knows of it."""
    for external in facts.externals:
        for each in facts.retentions:
            if each.ttl and each.entity == external.handle != "" and not external.cleanup:
                yield Violation(each.subject, each.line, f"{external.name} stays when the item goes")


@rule("TTL-CONFLICT", "error", "keep one table of retention classes")
def ttl_conflict(facts: Facts) -> Violations:
    """Two places state different periods for one thing.
    One of them is broken whatever the system does."""
    for each in facts.retentions:
        others = {o.period for o in facts.retentions if o.subject == each.subject and o.period != each.period}
        if others:
            yield Violation(
                each.subject, each.line, f"{each.period} here, {', '.join(sorted(others))} elsewhere"
            )


@rule("TTL-NONE", "error", "state how long the data is needed, and what happens then")
def ttl_none(facts: Facts) -> Violations:
    """Personal data is kept without an end.
    The law asks for a purpose and a period, and a leak shows all of the past."""
    for entity in facts.entities:
        if not has_personal_data(entity):
            continue
        stated = [each for each in facts.retentions if each.entity == entity.name]
        if not stated:
            yield Violation(entity.name, entity.line, "it has personal data and no retention")
        for each in stated:
            if each.period in ("indefinitely", "for ever"):
                yield Violation(entity.name, each.line, f"personal data is kept {each.period}")


@rule("TTL-RESTART", "warning", "compute the expiry from the time of the event")
def ttl_restart(facts: Facts) -> Violations:
    """A backfill or a migration computes the expiry of old items from now.
    Old data then lives for a whole period more."""
    for call in facts.calls:
        table = table_named(facts, call.table)
        names = {"ttl", table.ttl.text if table and table.ttl else "ttl"}
        for each in call.sets:
            if call.backfill and each.path in names and each.value.startswith("now"):
                yield Violation(call.name, each.line, f"'{each.value}' begins the period again")


@rule("TTL-MARGIN", "warning", "allow 72 hours")
def ttl_margin(facts: Facts) -> Violations:
    """An alarm or a check expects that TTL deletes on time.
    Deletions come in bursts and late by days, so it is raised when all is well."""
    for alarm in facts.alarms:
        if (
            alarm.metric == "TimeToLiveDeletedItemCount"
            and alarm.comparison
            and "Less" in alarm.comparison.text
        ):
            yield Violation(alarm.name, alarm.comparison.line, "it expects deletions in each period")
    for check in facts.health_checks:
        if "ttl" in check.of.lower() and check.grace_hours < 48:
            yield Violation(check.name, check.line, f"{check.grace_hours} hours are allowed")


@rule("SCHED-MISSING", "error", "add a schedule that looks for what is due")
def sched_missing(facts: Facts) -> Violations:
    """Something must happen at a time of day, and work is started by changes of items only.
    At that time no item changes, so nothing happens."""
    if any(trigger.source == "schedule" for trigger in facts.triggers):
        return
    for each in facts.local_times:
        for trigger in facts.triggers:
            if each.acts and trigger.source == "stream":
                yield Violation(trigger.name, trigger.line, f"nothing starts {each.name} when its time comes")


RULES = rules_in(globals())
