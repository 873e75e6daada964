"""Rules about privacy, security and migrations."""

import re
from ipaddress import ip_network

from tablewright.design.cost.format import count
from tablewright.design.review.facts import Facts
from tablewright.design.review.lookup import (
    declared,
    entities_of,
    entity_named,
    head,
    holes,
    index_key_names,
    index_named,
    table_named,
)
from tablewright.design.review.rule import Violation, Violations, rule, rules_in

_LARGE_NETWORK = 16


@rule("SEC-HASH", "error", "store an HMAC of the value in the key")
def sec_hash(facts: Facts) -> Violations:
    """Values are promised to be hashed, and a key has them in clear text, or hashed without a secret.
    An unkeyed hash of an e-mail address is found by trying addresses."""
    for promise in facts.hash_promises:
        for entity in facts.entities:
            attribute = declared(entity, promise.attribute)
            keyed = any(promise.attribute in holes(key.template) for key in entity.keys)
            if keyed and attribute and not attribute.hashed:
                yield Violation(
                    promise.attribute, promise.line, f"it is in a key of {entity.name} in clear text"
                )
        if not promise.keyed:
            yield Violation(promise.attribute, promise.line, "the hash has no secret")


@rule("SEC-LEADKEY", "error", "compare the whole key with the tag of the principal")
def sec_leadkey(facts: Facts) -> Violations:
    """A policy on leading keys has a wildcard, or a form that no key has.
    The wildcard lets `FAMILY-1*` read family 10, and with a form that no key has each read is refused."""
    for each in facts.leading_keys:
        if "*" in each.pattern:
            yield Violation(each.pattern, each.line, "the wildcard matches other principals")
        index = index_named(facts, each.table, each.index) if each.index else None
        table = table_named(facts, each.table)
        name = index.hash.name if index else table.hash.name if table else ""
        begin = re.split(r"[$*]", each.pattern)[0]
        keys = [
            key.template for e in entities_of(facts, each.table) for key in e.keys if key.attribute == name
        ]
        if name and begin and all(head(key) != begin for key in keys):
            yield Violation(each.pattern, each.line, f"no key of {name} begins with '{begin}'")


@rule("SEC-TOKEN", "warning", "sign the token, bind it to the caller and the query, and let it expire")
def sec_token(facts: Facts) -> Violations:
    """A page token is the key of the last item, as it is.
    A caller can read keys of others, and can write a token that starts anywhere."""
    for each in facts.page_tokens:
        if not each.signed:
            yield Violation(each.contains, each.line, f"{each.contains} is handed out unsigned")


@rule("SEC-MASSASSIGN", "error", "take named fields from the caller")
def sec_massassign(facts: Facts) -> Violations:
    """Fields of the caller are merged over fields that the server sets.
    A caller can then set ids, owners, times and flags."""
    for call in facts.calls:
        if call.merge and call.merge_fields is None:
            yield Violation(call.name, call.merge.line, f"'{call.merge.text}' replaces what the server set")


@rule("SEC-COPYAUTH", "warning", "check against the source when access is decided")
def sec_copyauth(facts: Facts) -> Violations:
    """Access is decided by an attribute that is a copy.
    When the source changes, the old holder keeps access until the copy follows."""
    for each in facts.access_rules:
        if any((copy.entity, copy.attribute) == (each.entity, each.by) for copy in facts.copies):
            yield Violation(f"{each.entity}.{each.by}", each.line, f"access rests on the copy {each.by}")


@rule("SEC-ERASE", "error", "generate export and erasure from the classes of the attributes")
def sec_erase(facts: Facts) -> Violations:
    """Personal data is stored, and no way to erase it, with its copies, is stated.
    A person has the right to it, and it must reach indexes, copies, backups and old tables."""
    for each in facts.erasures:
        if not each.how:
            yield Violation(each.subject, each.line, "it is not said how it is erased")


@rule("SEC-THIRDPARTY", "warning", "remove personal data before it is sent")
def sec_thirdparty(facts: Facts) -> Violations:
    """Personal text is sent to another company's service as it is.
    It is then stored there under other rules, and an erasure does not reach it."""
    for each in facts.processors:
        if each.personal and not each.scrub:
            yield Violation(each.name, each.line, f"it is sent {', '.join(each.sends)}")


@rule("SEC-PROMPT", "warning", "send the text as data, apart from the instructions")
def sec_prompt(facts: Facts) -> Violations:
    """Text from users is part of the instructions to a language model.
    A user can then write instructions."""
    for each in facts.processors:
        if each.role and each.role.text == "system":
            yield Violation(each.name, each.role.line, f"{', '.join(each.sends)} stand in the system message")


@rule("SEC-STATUS", "error", "require it, and refuse access until it is granted")
def sec_status(facts: Facts) -> Violations:
    """A state that decides about safety, such as a scan or a consent, may be absent.
    An item without it is served as if it had passed."""
    for entity in facts.entities:
        for attribute in entity.attributes:
            if attribute.gate and not attribute.required:
                yield Violation(
                    f"{entity.name}.{attribute.name}", attribute.line, f"{attribute.gate} may be absent"
                )


@rule("NET-OVERBLOCK", "warning", "list it without enforcing it, and block by name")
def net_overblock(facts: Facts) -> Violations:
    """A block list has a network of many thousand addresses.
    Such networks are shared by many services, which are then blocked too."""
    for each in facts.network_ranges:
        network = ip_network(each.cidr, strict=False)
        if each.enforced and network.prefixlen <= _LARGE_NETWORK:
            yield Violation(
                each.cidr, each.line, "it is a shared network", f"{count(network.num_addresses)} addresses"
            )


@rule("MIG-CDC", "error", "follow the stream of the source until the cutover")
def mig_cdc(facts: Facts) -> Violations:
    """A copy of a live table has no way to catch up with writes during the copy.
    What was written after an item was read is missing in the new table."""
    for step in facts.steps:
        if step.action == "copy" and not step.catch_up:
            yield Violation(f"copy {step.source}", step.line, "writes during the copy are lost")


@rule("MIG-FALLBACK", "error", "route by the state of the migration, for each owner")
def mig_fallback(facts: Facts) -> Violations:
    """A reader falls back to the old table on an exception.
    An empty answer of the new table does not raise one, so items not yet copied look absent."""
    for step in facts.steps:
        if step.fallback_on == "exception" and step.empty_is != "falls back":
            yield Violation(step.action, step.line, "an empty answer counts as success")


@rule("MIG-TARGET", "error", "name the new table")
def mig_target(facts: Facts) -> Violations:
    """After a copy to a new table a step still acts on the old one.
    The new table then lacks the index or the setting."""
    sources = [(place, step.source) for place, step in enumerate(facts.steps) if step.action == "copy"]
    for place, step in enumerate(facts.steps):
        for copied, source in sources:
            acts = step.action in ("create indexes", "enable ttl")
            if place > copied and acts and step.table and step.table.text == source:
                yield Violation(f"{step.action} {source}", step.table.line, f"{source} is the old table")


@rule("MIG-FIELDS", "error", "map or compute each required attribute and index key")
def mig_fields(facts: Facts) -> Violations:
    """A copy leaves out attributes that the new form requires, or by which it is indexed.
    Copied items are invalid, or absent from the index."""
    for step in facts.steps:
        entity = entity_named(facts, step.entity)
        if step.action != "copy" or entity is None:
            continue
        needed = {
            a.name for a in entity.attributes if a.required or a.name in index_key_names(facts, entity.table)
        }
        missing = sorted(needed - set(step.fills))
        if missing:
            yield Violation(
                f"copy {step.entity}", step.fills_line or step.line, f"nothing fills {', '.join(missing)}"
            )


@rule("MIG-RETAIN", "warning", "state the day on which it is deleted")
def mig_retain(facts: Facts) -> Violations:
    """The old copy of migrated data is kept without an end.
    It is paid for, and erasures do not reach it."""
    for step in facts.steps:
        if step.action == "keep old" and not step.until:
            yield Violation("old copy", step.line, "no day is stated on which it is deleted")


RULES = rules_in(globals())
