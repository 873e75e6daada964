"""The regions a command about replicas is told of, and how it asks them. What the commands share.

Each is a REGION=URL of a running server; a server of several regions is named once for each. Requests are signed with
the first key of --credentials, or with any if the servers take any.
Must hold: what the caller can mend is one sentence on stderr and code 2; nobody waits in silence, nor twice for one
that does not answer.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import Timer
from time import sleep
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.engine.replica_lines import Ask
    from tablewright.wire.peers import HttpPeer

LOOK_SECONDS = 0.2
# Who waits longer for an answer is told for whom; and how long that may take, unless --timeout says.
TELL_SECONDS, ANSWER_SECONDS = 1.0, 30.0
KEYS = """--credentials FILE is what the servers were given: its first key signs the requests. Servers without
credentials take any signature."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places",
        metavar="REGION=URL",
        nargs="+",
        help="a region and the server it is on, as eu-west-1=http://host:8000",
    )
    parser.add_argument("--credentials", metavar="FILE", help="sign with the first key in FILE")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=ANSWER_SECONDS,
        metavar="SECONDS",
        help="how long a server may take to answer a request (default: %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"a time-out is a number of seconds, more than none, not {text!r}")
    return seconds


def tables(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", action="append", metavar="NAME", help="one table (default: every table with replicas)"
    )


def at(given: argparse.Namespace, work: "Callable[[Mapping[str, Ask]], int]") -> int:
    """Do the work with the regions that were named; the command's exit code."""
    from tablewright.engine import PeerUnreachable, ServiceError
    from tablewright.engine.replica_standings import ReplicasMistake
    from tablewright.wire import CredentialsUnusable, read_credentials
    from tablewright.wire.peers import HttpPeer, PeerUnusable, peer_named

    asks: dict[str, HttpPeer] = {}
    try:
        keys = read_credentials(given.credentials) if given.credentials else {}
        key = next(iter(keys.values()), None)
        for region, url in map(peer_named, given.places):
            asks[region] = HttpPeer(url, region, key, answer_seconds=given.timeout)
        patient = {region: patiently(peer) for region, peer in asks.items()}
        _refuse_misnamed(patient, asks)
        return work(patient)
    except (CredentialsUnusable, PeerUnusable, PeerUnreachable, ReplicasMistake) as mistake:
        print(f"tablewright: {mistake}", file=sys.stderr)
        return 2
    except ServiceError as refusal:
        print(f"tablewright: {refusal.name}: {refusal.message}", file=sys.stderr)
        return 2
    finally:
        for peer in asks.values():
            peer.close()


def _refuse_misnamed(patient: "Mapping[str, Ask]", asks: "Mapping[str, HttpPeer]") -> None:
    """Refuse a server that is another region than it was named: what is done there would be done to the wrong one."""
    from tablewright.engine import PeerUnreachable
    from tablewright.engine.replica_standings import ReplicasMistake

    for region, ask in patient.items():
        try:
            found = ask("PeerStatus", {})["Region"]
        except PeerUnreachable:
            continue  # whoever needs it says so
        if found != region:
            raise ReplicasMistake(f"{asks[region].url} is {found}, not {region}. Nothing was done")


def patiently(peer: "HttpPeer") -> "Ask":
    """Ask the peer; tell for whom and how long when that takes its time, and do not wait again for a silent one."""
    from tablewright.engine import PeerUnreachable

    silent: list[PeerUnreachable] = []
    told = f"tablewright: waiting for {peer.region} at {peer.url}, at most {peer.answer_seconds:g} s"

    def ask(verb: str, request: dict[str, Any]) -> dict[str, Any]:
        if silent:
            raise silent[0]
        telling = Timer(TELL_SECONDS, lambda: print(told, file=sys.stderr, flush=True))
        telling.daemon = True
        telling.start()
        try:
            return peer(verb, request)
        except PeerUnreachable as trouble:
            if isinstance(trouble.__cause__, TimeoutError):
                silent.append(trouble)
            raise
        finally:
            telling.cancel()

    return ask


def named(asks: "Mapping[str, Ask]", region: str) -> "Ask":
    from tablewright.engine.replica_standings import ReplicasMistake

    if region not in asks:
        raise ReplicasMistake(f"say where {region} is: {region}=http://host:8000")
    return asks[region]


def tables_of(given: argparse.Namespace, ask: "Ask") -> list[str]:
    from tablewright.engine.replica_standings import ReplicasMistake, standings

    found: list[str] = given.table or [one.table for one in standings(ask)]
    if not found:
        raise ReplicasMistake("no table there has replicas")
    return found


def pause() -> None:
    sleep(LOOK_SECONDS)


def as_json(value: Any) -> str:
    return json.dumps(value, default=_plain, indent=2, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"there is no JSON for a {type(value).__name__}")


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def told_comparison(one: Any, most: int = 20) -> str:
    """A comparison in words: that it found nothing, or what."""
    first, second = one.regions
    counts = f"{one.items[0]} items in {first}, {one.items[1]} in {second}"
    if one.is_equal:
        return f"{one.table}: the same ({counts})"
    lines = [f"{one.table}: {one.count} differ ({counts})"]
    lines += [
        f"  {json.dumps(each.keys, ensure_ascii=False)}: {each.kind}" for each in one.differences[:most]
    ]
    if one.count > most:
        lines.append(f"  and {one.count - most} more")
    return "\n".join(lines)
