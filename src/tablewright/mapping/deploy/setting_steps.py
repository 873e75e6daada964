"""Steps for what is set on a table besides its key, indexes and units. Pure."""

from collections.abc import Iterator

from tablewright.design.prices import Prices
from tablewright.mapping.deploy import requests
from tablewright.mapping.deploy.costs import recovery_cost
from tablewright.mapping.deploy.states import TableState
from tablewright.mapping.deploy.steps import Step

OFF = "off"
_TERRAFORM = "Terraform makes it: tablewright design repository"
_NOT_HERE = "the endpoint does not have this setting"


def setting_steps(wanted: TableState, live: TableState, prices: Prices | None) -> Iterator[Step]:
    yield from _stream(wanted, live)
    yield from _ttl(wanted, live)
    yield from _recovery(wanted, live, prices)
    yield from _tags(wanted, live)
    yield from _encryption(wanted, live)
    yield from _elsewhere(wanted, live)
    yield from _protection(wanted, live)


def _stream(wanted: TableState, live: TableState) -> Iterator[Step]:
    if wanted.stream == live.stream:
        return
    sides = (live.stream or OFF, wanted.stream or OFF)
    if live.stream is not None:
        loses = "changes that its consumers have not read yet"
        off = requests.set_stream(wanted.name, None)
        yield Step(wanted.name, "disable", "stream", *sides, (off,), loses=loses)
    if wanted.stream is not None:
        yield Step(
            wanted.name, "enable", "stream", *sides, (requests.set_stream(wanted.name, wanted.stream),)
        )


def _ttl(wanted: TableState, live: TableState) -> Iterator[Step]:
    if wanted.ttl == live.ttl:
        return
    sides = (live.ttl or OFF, wanted.ttl or OFF)
    if "ttl" in live.unavailable:
        yield Step(wanted.name, "enable", "time to live", *sides, needs="endpoint", advice=_NOT_HERE)
        return
    if live.ttl is not None:
        off = requests.set_ttl(wanted.name, live.ttl, enabled=False)
        yield Step(wanted.name, "disable", "time to live", *sides, (off,))
    if wanted.ttl is not None:
        # What lies in the past is deleted from then on.
        loses = f"items whose {wanted.ttl} lies in the past" if live.items else ""
        on = requests.set_ttl(wanted.name, wanted.ttl, enabled=True)
        yield Step(wanted.name, "enable", "time to live", *sides, (on,), loses=loses)


def _recovery(wanted: TableState, live: TableState, prices: Prices | None) -> Iterator[Step]:
    days, have = wanted.recovery_days or 0, live.recovery_days
    if days == have or (days and have is None):
        return
    sides = (f"{have} days" if have else "on" if have is None else OFF, f"{days} days" if days else OFF)
    if "recovery" in live.unavailable:
        yield Step(wanted.name, "enable", "recovery", *sides, needs="endpoint", advice=_NOT_HERE)
        return
    loses = ""
    if not days:
        loses = "what the table could be recovered to"
    elif have is not None and days < have:
        loses = f"what the table could be recovered to before the last {days} days"
    call, cost = requests.set_recovery(wanted.name, days), recovery_cost(live, prices)
    action = "change" if have else "enable" if days else "disable"
    yield Step(wanted.name, action, "recovery", *sides, (call,), loses=loses, cost=cost)


def _tags(wanted: TableState, live: TableState) -> Iterator[Step]:
    missing = {key: value for key, value in wanted.tags.items() if live.tags.get(key) != value}
    extra = {key: value for key, value in live.tags.items() if key not in wanted.tags}
    if missing and "tags" in live.unavailable:
        yield Step(wanted.name, "set", "tags", "", _pairs(missing), needs="endpoint", advice=_NOT_HERE)
        return
    if missing:
        tags = [{"Key": key, "Value": value} for key, value in missing.items()]
        call = ("TagResource", {"ResourceArn": live.arn, "Tags": tags})
        have = {key: live.tags[key] for key in missing if key in live.tags}
        yield Step(wanted.name, "set", "tags", _pairs(have) or "absent", _pairs(missing), (call,))
    if extra:
        gone = ("UntagResource", {"ResourceArn": live.arn, "TagKeys": list(extra)})
        loses = f"tags that the design does not have: {', '.join(extra)}"
        yield Step(wanted.name, "remove", "extra tags", _pairs(extra), "absent", (gone,), loses=loses)


def _pairs(tags: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in tags.items())


def _encryption(wanted: TableState, live: TableState) -> Iterator[Step]:
    """A live key of one's own cannot be told from the account's (states.py): either is taken for the other."""
    if (wanted.encryption == "owned") == (live.encryption == "owned"):
        return
    sides = (live.encryption, wanted.encryption)
    if wanted.encryption == "customer":
        yield Step(wanted.name, "change", "encryption", *sides, needs="elsewhere", advice=_TERRAFORM)
        return
    is_on = wanted.encryption == "managed"
    loses = "" if is_on else "encryption with a key of the account; Amazon's own key remains"
    call = requests.update_table(wanted.name, SSESpecification={"Enabled": is_on})
    yield Step(wanted.name, "change", "encryption", *sides, (call,), loses=loses)


def _elsewhere(wanted: TableState, live: TableState) -> Iterator[Step]:
    for region in sorted(wanted.replicas - live.replicas):
        yield Step(
            wanted.name,
            "create",
            f"replica {region}",
            "absent",
            "wanted",
            needs="elsewhere",
            advice=_TERRAFORM,
        )
    for region in sorted(live.replicas - wanted.replicas):
        yield Step(
            wanted.name,
            "delete",
            f"replica {region}",
            "exists",
            "absent",
            needs="elsewhere",
            advice=_TERRAFORM,
        )
    for extra in live.extras:
        advice = "a design cannot ask for it: take it back with UpdateTable, or accept it"
        yield Step(wanted.name, "change", extra, extra, "not set", needs="elsewhere", advice=advice)


def _protection(wanted: TableState, live: TableState) -> Iterator[Step]:
    if wanted.is_protected == live.is_protected:
        return
    words = {True: "on", False: OFF}
    loses = "" if wanted.is_protected else "the protection: the table can be deleted"
    call = requests.update_table(wanted.name, DeletionProtectionEnabled=wanted.is_protected)
    yield Step(
        wanted.name,
        "change",
        "deletion protection",
        words[live.is_protected],
        words[wanted.is_protected],
        (call,),
        loses=loses,
    )
