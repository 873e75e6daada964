"""Rules about capacity and cost: stated figures against the price book and the units of a call."""

from decimal import Decimal

from tablewright.design.cost.format import count, money
from tablewright.design.prices import HOME, MILLION, PRICES
from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.operations import Cost, UnitCount
from tablewright.design.review.rule import Violation, Violations, rule, rules_in
from tablewright.design.units import write_units

_TOLERATED = Decimal("0.05")
_MANY_A_DAY = 1000
_MOST_BYTES = 400 * 1024
_LIMITS = {
    "partition size": ("none without a local index; 10 GB for an item collection with one", ("none",)),
    "partition read units": ("3000 a second", ("3000",)),
    "partition write units": ("1000 a second", ("1000",)),
    "item size": ("400 KB", ("400 KB", "400KB")),
    "transaction items": ("100", ("100",)),
    "batch writes": ("25", ("25",)),
}


def _is_off(stated: Decimal, computed: Decimal) -> bool:
    return abs(stated - computed) > _TOLERATED * computed


def computed_cost(facts: Facts, cost: Cost) -> Decimal | None:
    """What a cost is by the document's own figures: its terms, its gigabytes once, or those of its parts."""
    if cost.terms:
        return sum((term.units * term.price / MILLION for term in cost.terms), Decimal())
    if cost.gb is not None and cost.gb_price is not None:
        return cost.gb * cost.gb_price
    # A part without figures of its own is taken as it is stated: the sum can be wrong all the same.
    parts = [each for each in facts.costs if each.name in cost.parts]
    sums = (computed_cost(facts, each) for each in parts)
    amounts = (each.stated if own is None else own for each, own in zip(parts, sums, strict=True))
    return sum(amounts, Decimal()) if parts else None


def computed_units(each: UnitCount) -> Decimal:
    """The write units of a write: with its index entries; on average over its sizes, if the item grows."""
    if each.elements:
        sizes = (number * each.element_bytes for number in range(1, each.elements + 1))
        return sum((write_units(size) for size in sizes), Decimal()) / each.elements
    base = write_units(each.item_bytes) if each.base else Decimal()
    return base + (len(each.touches) + len(each.moves)) * write_units(each.item_bytes)


@rule("COST-ARITH", "error", "compute it again: units x price / 1 000 000; raise a budget that is too low")
def cost_arith(facts: Facts) -> Violations:
    """A stated cost is more than 5 % off its own units and price, or a budget is below what the design costs.
    Decisions about the design then rest on a figure that no bill will have."""
    for cost in facts.costs:
        computed = computed_cost(facts, cost)
        # Backups may be stated for one, which another rule finds, or for all that are kept.
        if (
            computed is not None
            and _is_off(cost.stated, computed)
            and _is_off(cost.stated, computed * cost.points)
        ):
            yield Violation(cost.name, cost.line, f"${cost.stated} is stated", f"${computed:f} computed")
    for budget in facts.budgets:
        if budget.computed > budget.limit:
            why = f"the budget of {money(budget.limit)} a month is below what the design costs"
            yield Violation(budget.environment, budget.line, why, f"{money(budget.computed)} computed")


@rule("COST-READPRICE", "error", "split the requests into reads and writes")
def cost_readprice(facts: Facts) -> Violations:
    """All requests of a table are priced as reads.
    A write costs five times as much, and more with each index."""
    for cost in facts.costs:
        if cost.requests is None:
            continue
        for price in (Decimal("0.25"), PRICES.of(HOME)["read"].amount):
            if not _is_off(cost.stated, cost.requests * price / MILLION):
                worst = cost.requests * 5 * price / MILLION
                evidence = f"${cost.stated} if all are reads, ${worst:f} if all are writes"
                yield Violation(
                    cost.name, cost.line, f"{count(cost.requests)} requests at the price of reads", evidence
                )
                break


@rule("COST-FANOUT", "warning", "add one unit for each index entry, two where its key changes")
def cost_fanout(facts: Facts) -> Violations:
    """A stated number of write units leaves out the indexes, or counts them wrongly.
    Each index that has an entry for the item is written too."""
    for each in facts.unit_counts:
        entries = (*each.touches, *each.moves)
        computed = computed_units(each)
        if entries and computed != each.stated:
            indexes = ", ".join(entries)
            yield Violation(
                each.name, each.line, f"{each.stated} units are stated", f"{computed} with {indexes}"
            )


@rule("COST-SIZE", "warning", "count the units of the item at its size when it is written")
def cost_size(facts: Facts) -> Violations:
    """A number of write units ignores that the item grows.
    Each write pays for the whole item, so the last writes of a long list cost many times the first."""
    for each in facts.unit_counts:
        if not each.elements:
            continue
        average = write_units(each.elements * each.element_bytes // 2)
        if average > each.stated:
            most = write_units(each.elements * each.element_bytes)
            evidence = f"{average} units on average, {most} at the end"
            yield Violation(each.name, each.line, f"{each.stated} units for each write", evidence)


@rule("COST-PRICE", "error", "take prices from one price book, with region, measure and date")
def cost_price(facts: Facts) -> Violations:
    """A price is stated in two ways, by another measure than it has, or is not that of the region.
    Every figure computed from it is wrong by the same factor."""
    for each in facts.prices:
        others = {o.amount for o in facts.prices if o.kind == each.kind and o.amount != each.amount}
        if others:
            also = ", ".join(f"${other}" for other in sorted(others))
            yield Violation(each.kind, each.line, f"${each.amount} here, {also} elsewhere")
        book = PRICES.of(each.region or HOME)[each.kind]
        if each.measure and each.measure != book.measure:
            yield Violation(each.kind, each.line, f"'{each.measure}': the price is {book.measure}")
        elif each.region and _is_off(each.amount, book.amount):
            line = facts.price_list.line if facts.price_list else each.line
            evidence = f"{book} in {each.region}, {book.as_of}"
            yield Violation(each.kind, line, f"${each.amount} is not the price in {each.region}", evidence)


@rule("COST-BACKUPS", "error", "multiply the size by the number of backups kept")
def cost_backups(facts: Facts) -> Violations:
    """The cost of backups counts the data once, and many backups are kept.
    Each full backup is paid for as long as it is kept."""
    for cost in facts.costs:
        if cost.gb is None or cost.gb_price is None or cost.points <= 1:
            continue
        once = cost.gb * cost.gb_price
        if not _is_off(cost.stated, once):
            evidence = f"${once * cost.points:f} for {cost.points} full backups"
            yield Violation(cost.name, cost.line, f"${cost.stated} is the price of one backup", evidence)


@rule("COST-RATIO", "warning", "state which quantity the percentage is of")
def cost_ratio(facts: Facts) -> Violations:
    """A percentage is attached to the wrong quantity, or does not follow from its figures.
    The saving that a decision rests on does not exist."""
    for each in facts.ratios:
        if each.before and each.after is not None:
            computed = 100 * (each.before - each.after) / each.before
            if abs(computed - each.percent) >= 1:
                yield Violation(
                    each.of, each.line, f"{each.percent} % of {each.of}", f"{computed:.1f} % computed"
                )
        others = {o.of for o in facts.ratios if o.percent == each.percent and o.of != each.of}
        if others:
            yield Violation(
                each.of, each.line, f"{each.percent} % is also stated of {', '.join(sorted(others))}"
            )


@rule("CAP-MODE", "error", "choose one mode for each environment")
def cap_mode(facts: Facts) -> Violations:
    """A table is given both capacity modes in one environment.
    A table has one, and the two have other prices and other limits."""
    for each in facts.capacities:
        for other in facts.capacities:
            same = (other.table, other.environment) == (each.table, each.environment)
            if same and other.mode != each.mode:
                yield Violation(each.table, each.line, f"{each.mode} here, {other.mode} elsewhere")


@rule("CAP-UNITS", "error", "reserve more units, let them scale further, or pay on demand")
def cap_units(facts: Facts) -> Violations:
    """A table, or an index of it, reserves fewer units than its stated load takes.
    What is above them is throttled all the time, not only at a peak."""
    for each in facts.capacities:
        for what, most, load in (
            ("read", each.most_read, each.load_read),
            ("write", each.most_write, each.load_write),
        ):
            if most is not None and load is not None and load > most:
                why = f"{each.environment or 'it'} reserves at most {most} {what} units for it and each index"
                yield Violation(each.table, each.line, why, f"the load takes {load:,.0f} a second on average")


@rule("CAP-VOLUME", "warning", "check the number of users and of requests")
def cap_volume(facts: Facts) -> Violations:
    """A stated load is more than users can cause.
    The estimate is off by orders of magnitude, or a program polls."""
    for each in facts.volumes:
        daily = each.requests_a_month / 30 / each.users
        if daily > _MANY_A_DAY:
            yield Violation(
                f"{each.users} users",
                each.line,
                f"{count(each.requests_a_month)} a month",
                f"{daily:.0f} a day each",
            )


@rule("CAP-SIZE", "warning", "limit the number of elements, or store each as an item")
def cap_size(facts: Facts) -> Violations:
    """A list, a map or a set of an item has no limit, or items are stated to be larger than DynamoDB takes.
    Items hold 400 KB: writes get slower and dearer, and one day are refused."""
    for entity in facts.entities:
        if (entity.item_bytes or 0) > _MOST_BYTES:
            why, limit = f"its items have {entity.item_bytes:,} bytes", f"{_MOST_BYTES:,} are the most"
            yield Violation(entity.name, entity.line, why, limit, "error")
        for attribute in entity.attributes:
            if attribute.type in ("L", "M", "SS", "NS", "BS") and attribute.max is None:
                yield Violation(f"{entity.name}.{attribute.name}", attribute.line, "it has no limit")


@rule("CAP-LIMITFACT", "information", "quote the present limit")
def cap_limitfact(facts: Facts) -> Violations:
    """A limit of the service is quoted wrongly.
    The design avoids what is allowed, or rests on what is not."""
    for each in facts.limits:
        true, words = _LIMITS.get(each.name, ("", (each.value,)))
        if each.value not in words:
            yield Violation(each.name, each.line, f"'{each.value}' is quoted", true)


RULES = rules_in(globals())
