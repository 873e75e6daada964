"""Whether Zoo chat's second version is faster than its first and stays so in long chats, and how fast chats migrate.

    python benchmarks/chat.py                                          chats of 50 and 2 000 messages; 2 000 migrated
    python benchmarks/chat.py --many 20000 --messages 1000000 --json found.json
    python benchmarks/chat.py --parts append,flat
    python benchmarks/chat.py --parts append --through boto3

append: a message appended to chats of 50 and of 500 messages of 500 bytes, in the first version as its programs do it
(read the item, list_append) and in the second (one transaction with its seal, the consent and the counters), turn by
turn, in CPU time of this process, and in units. The target is half the units and half the time. At 50 messages the
time is not met: 1.34 times as fast in process, and 1.7 times with `--through boto3`, where Amazon's SDK calls a
server in this process. An append is one call to the engine, a transaction of three items. Of a profile about a sixth
is building the message, its seal and the conditions, a ninth their requests, more than half the transaction with its
journal and index entries: nearly what the first version needs to read and rewrite an item of 25 KB. The first version
grows with the chat and the second does not: it is twice as fast from about 100 messages on. It makes no
difference whether the first version appends in the store or writes the whole item back, with its new message sealed.
flat: an append and a page of 20 messages of a chat with `--few` messages and of one with `--many`: both are the same.
migration: `--messages` messages in chats of 50 are copied, compared and switched to; the target is no difference.
Must hold: what was appended is read back. stdout is the answer, stderr the talk. Code 0: every measured target met; 1:
one was not; 2: it cannot run. Figures depend on the machine, so no test asserts them.
Elsewhere: running parts (runner.py), the form of a verdict (verdict.py, report.py), the machine (machine.py).
"""

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

import boto3

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import CannotMeasure
from benchmarks.report import table
from benchmarks.runner import Part, argument_parser, print_progress, run_parts
from benchmarks.verdict import Target, at_least

from tablewright import Engine
from tablewright.client import Call, batch_write, embedded, through_boto3
from tablewright.kit.tables import Actor
from tablewright.mapping import Db
from tablewright.mapping.items import item_of
from tablewright.mapping.migrate import is_up_to_date
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.legacy.model import V1Conversation, V1Message
from tablewright.systems.chat.model import Conversation, Draft
from tablewright.systems.chat.rules import stamp
from tablewright.wire import serving

LENGTH, LONG, BYTES, PAGE, AT_ONCE = 50, 500, 500, 20, 80
TWICE, FLAT = 2.0, 0.8
SECRET = b"a secret for a benchmark, of no use elsewhere"
ADMIN = Actor("benchmark", "administrator")
TEXT = "x" * (BYTES - 150)


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """What was asked for, and where it happens."""

    directory: Path
    rounds: int
    few: int
    many: int
    messages: int
    durability: str
    through: str


@contextmanager
def opened(bench: Bench, name: str) -> Iterator[Chat]:
    with (
        Engine.open(bench.directory / name, durability=bench.durability) as engine,
        calling(engine, bench.through) as call,
    ):
        db = Db(call, d.CHAT)
        db.create_tables()
        yield open_chat(db, db.world, SECRET, home=bench.directory / f"{name}-home")


@contextmanager
def calling(engine: Engine, through: str) -> Iterator[Call]:
    """The calls of an engine: in this process, or by Amazon's SDK over HTTP."""
    if through == "in-process":
        yield embedded(engine)
        return
    with serving(engine) as url:
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
        )
        with closing(client):
            yield through_boto3(client)


def child(chat: Chat, user_id: str) -> User:
    user = User(
        user_id=user_id, role="student", name=user_id, birth_date=date(2016, 1, 1), scopes=["collect_and_use"],
        consent_generation=1, created_at=datetime.now(UTC),
    )  # fmt: skip
    chat.repository.db.write(d.users.create(user))
    return user


def v1_chat(number: int, user_id: str, length: int) -> V1Conversation:
    """A chat of the first version, a message a minute until now."""
    start = datetime.now(UTC) - timedelta(minutes=length + number % 1000)
    id = f"conv_panda_{user_id}_{number:08x}"
    messages = [
        V1Message(
            message_id=f"{number:08x}-0000-4000-8000-{place:012x}", role="assistant" if place % 2 else "user",
            text=TEXT, timestamp=stamp(start + timedelta(minutes=place)), metadata={"tokens": 90},
        )
        for place in range(length)
    ]  # fmt: skip
    return V1Conversation(
        conversation_id=id, user_id=user_id, animal_id="panda", animal_name="Pan Pan", message_count=length,
        start_time=stamp(start), messages=messages,
    )  # fmt: skip


def load_v1(chat: Chat, chats: Iterator[V1Conversation]) -> None:
    db, shape = chat.repository.db, d.v1_conversations.shape
    name = db.physical(shape.table.name)
    while some := list(islice(chats, 25)):
        puts = [{"PutRequest": {"Item": item_of(shape, one)}} for one in some]
        if batch_write(db.call, {name: puts}, world=db.world).get(name):
            raise CannotMeasure("the table did not take what was loaded")


def v2_chat(chat: Chat, user: User, length: int) -> Conversation:
    """A chat of the second version with so many messages."""
    header = chat.conversations.create(user, "panda")
    for start in range(0, length, AT_ONCE):
        many = min(AT_ONCE, length - start)
        drafts = [Draft(role="assistant" if place % 2 else "user", text=TEXT) for place in range(many)]
        chat.messages.append(again(chat, header), drafts)
    return again(chat, header)


def again(chat: Chat, header: Conversation) -> Conversation:
    return chat.conversations.get(header.conversation_id, header.user_id)


def timed(act: Callable[[], object]) -> float:
    """CPU milliseconds."""
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1000


def units(chat: Chat, act: Callable[[], object]) -> float:
    """The units that an act takes, of all tables and indexes."""
    meter = chat.repository.db.meter
    before = sum(spent.read + spent.write for spent in meter.spent().values())
    act()
    return sum(spent.read + spent.write for spent in meter.spent().values()) - before


# --- append ---


def append_part(bench: Bench) -> Part:
    with opened(bench, "append") as chat:
        user = child(chat, "u_1")
        found = {length: appended(chat, user, length, bench.rounds) for length in (LENGTH, LONG)}
    rows = [
        [str(length), name, f"{spent:.2f}", f"{taken[name]:g}"]
        for length, (p50, taken) in found.items()
        for name, spent in p50.items()
    ]
    text = table("A message appended", ["messages before", "version", "CPU ms p50", "units"], rows)
    targets = []
    for length, (p50, taken) in found.items():
        ratio = taken["first"] / taken["second"]
        targets.append(at_least(f"append at {length} messages: units of the first version", TWICE, ratio))
        speed = p50["first"] / p50["second"]
        targets.append(at_least(f"append at {length} messages: speed of the second version", TWICE, speed))
    return Part("append", text, {str(length): each for length, each in found.items()}, targets)


def appended(chat: Chat, user: User, length: int, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """CPU milliseconds and units of an append to a chat of a length, in both versions, turn by turn."""
    load_v1(chat, (v1_chat(number, "u_1", length) for number in range(rounds + 5)))
    headers = [v2_chat(chat, user, length) for _ in range(rounds + 5)]
    times: dict[str, list[float]] = {"first": [], "second": []}
    for number, header in enumerate(headers):
        spent = timed(partial(append_v1, chat, number)), timed(partial(append_known, chat, header))
        if number >= 5:
            for name, one in zip(times, spent, strict=True):
                times[name].append(one)
    taken = {
        "first": units(chat, lambda: append_v1(chat, 0)),
        "second": units(chat, lambda: append_v2(chat, headers[0])),
    }
    if again(chat, headers[0]).message_count != length + 2:
        raise CannotMeasure("a message that was appended is not counted")
    return {name: median(each) for name, each in times.items()}, taken


def append_v1(chat: Chat, number: int) -> None:
    """As its programs do: the history is read with the item, then a message is appended."""
    id = f"conv_panda_u_1_{number:08x}"
    chat.legacy.v1.get(id, "u_1")
    message = V1Message(message_id="m", role="user", text=TEXT, timestamp=stamp(datetime.now(UTC)))
    chat.legacy.v1.append(id, "u_1", [message])


def append_known(chat: Chat, header: Conversation) -> None:
    """With the header that the request has read before: no history, and nothing else is needed."""
    chat.messages.append(header, [Draft(role="user", text=TEXT)], consent=1)


def append_v2(chat: Chat, header: Conversation) -> None:
    chat.messages.append(again(chat, header), [Draft(role="user", text=TEXT)], consent=1)


# --- flat ---


def flat_part(bench: Bench) -> Part:
    sizes = {"few": bench.few, "many": bench.many}
    with opened(bench, "flat") as chat:
        user = child(chat, "u_1")
        headers = {name: v2_chat(chat, user, size) for name, size in sizes.items()}
        print_progress(f"chats of {bench.few} and {bench.many} messages are loaded")
        times: dict[tuple[str, str], list[float]] = {}
        for turn in range(-5, bench.rounds):
            for name, header in headers.items():
                acts = {"append": partial(append_v2, chat, header), "history": partial(page, chat, header)}
                for act, run in acts.items():
                    spent = timed(run)
                    if turn >= 0:
                        times.setdefault((act, name), []).append(spent)
    p50 = {f"{act} {name}": median(spent) for (act, name), spent in times.items()}
    rows = [[name, f"{spent:.2f}"] for name, spent in p50.items()]
    text = table(f"Chats of {bench.few} and of {bench.many} messages", ["what", "CPU ms p50"], rows)
    targets = [
        at_least(
            f"{act}: speed in a long chat against a short one", FLAT, p50[f"{act} few"] / p50[f"{act} many"]
        )
        for act in ("append", "history")
    ]
    return Part("flat", text, p50, targets)


def page(chat: Chat, header: Conversation) -> None:
    found = chat.messages.history(header, limit=PAGE)
    if len(found.items) != PAGE:
        raise CannotMeasure("a page does not have its messages")


# --- migration ---


def migration_part(bench: Bench) -> Part:
    chats = max(1, bench.messages // LENGTH)
    with opened(bench, "migration") as chat:
        users = [child(chat, f"u_{number}") for number in range(min(1000, chats))]
        load_v1(chat, (v1_chat(n, users[n % len(users)].user_id, LENGTH) for n in range(chats)))
        print_progress(f"{chats} chats of {LENGTH} messages are loaded")
        operator, seconds = chat.legacy.operator, {}
        seconds["prepare"] = clocked(lambda: operator.prepare(ADMIN))
        operator.start(ADMIN)
        seconds["copy"] = clocked(lambda: follow(chat))
        began = time.perf_counter()
        report = operator.verify(ADMIN)
        seconds["compare"] = time.perf_counter() - began
        seconds["cut over"] = clocked(lambda: operator.cut_over(ADMIN))
    rate = chats * LENGTH / seconds["copy"]
    rows = [[name, f"{spent:.1f}"] for name, spent in seconds.items()]
    text = table(f"{chats * LENGTH} messages migrated, {rate:.0f} a second copied", ["step", "s"], rows)
    right = report.is_right and report.digests_agree
    target = Target("migration: both versions agree", "yes", "yes" if right else "no", right)
    return Part("migration", text, {"seconds": seconds, "messages_per_second": rate}, [target])


def clocked(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def follow(chat: Chat) -> None:
    operator = chat.legacy.operator
    while not operator.advance("benchmark").is_idle or not is_up_to_date(
        operator.context, operator.context.state()
    ):
        pass


# --- the whole ---

PARTS: dict[str, Callable[[Bench], Part]] = {
    "append": append_part,
    "flat": flat_part,
    "migration": migration_part,
}


def main(arguments: Sequence[str]) -> int:
    parser = argument_parser("benchmarks/chat.py", __doc__, list(PARTS))
    parser.add_argument("--rounds", type=int, default=60, help="appends and pages of each; default 60")
    parser.add_argument("--few", type=int, default=50, help="messages of the short chat; default 50")
    parser.add_argument("--many", type=int, default=2_000, help="messages of the long chat; default 2000")
    parser.add_argument("--messages", type=int, default=2_000, help="messages to migrate; default 2000")
    parser.add_argument("--durability", choices=("durable", "relaxed"), default="relaxed")
    parser.add_argument("--through", choices=("in-process", "boto3"), default="in-process")
    asked = parser.parse_args(arguments)
    if min(asked.few, asked.many) < PAGE or asked.rounds < 1 or asked.messages < LENGTH:
        parser.error(f"at least {PAGE} messages in a chat, one round and {LENGTH} messages to migrate")
    named = ("rounds", "few", "many", "messages", "durability", "through")
    settings = {name: getattr(asked, name) for name in named}
    return run_parts(PARTS, asked, lambda home: Bench(home, *settings.values()), settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
