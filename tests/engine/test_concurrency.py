"""Many threads on one engine: nothing is lost, nothing is done twice, nothing is seen halfway.

Each test runs in memory and on disk, because their readers take different ways.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.engine.tables import add, amount, create_index, definition, keyed, names, put, transaction

from tablewright import Engine, ServiceError
from tablewright.engine.transaction import WriteTransaction

THREADS = 8
TIMES = 100


@contextmanager
def together(*works: Callable[[], None]) -> Iterator[None]:
    """Run each on a thread of its own, all starting at once; what one of them raises is raised here."""
    start = threading.Barrier(len(works) + 1)
    raised: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    # Threads that change hands every few microseconds meet in places where they otherwise never would.
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        start.wait()
        yield
    finally:
        for thread in threads:
            thread.join()
        sys.setswitchinterval(patience)
    if raised:
        raise raised[0]


def patiently(engine: Engine, verb: str, request: dict[str, Any]) -> None:
    """Call until no transaction is in the way, as an SDK does."""
    while True:
        try:
            engine.call(verb, request)
            return
        except ServiceError as busy:
            reasons = busy.fields.get("CancellationReasons", [])
            codes = {reason["Code"] for reason in reasons} or {busy.name}
            if not codes <= {"None", "TransactionConflict", "TransactionConflictException"}:
                raise


def test_concurrent_adds_come_to_their_exact_sum(either: Engine) -> None:
    def count() -> None:
        for _ in range(TIMES):
            either.call("UpdateItem", add("counter"))

    with together(*[count] * THREADS):
        pass
    assert amount(either, "counter") == THREADS * TIMES


def test_concurrent_transactions_come_to_their_exact_sum(either: Engine) -> None:
    def count() -> None:
        for _ in range(TIMES):
            patiently(
                either, "TransactWriteItems", transaction({"Update": add("one")}, {"Update": add("two", 2)})
            )

    with together(*[count] * THREADS):
        pass
    assert (amount(either, "one"), amount(either, "two")) == (THREADS * TIMES, 2 * THREADS * TIMES)


def test_transactions_and_single_writes_of_one_item_come_to_their_exact_sum(either: Engine) -> None:
    def single() -> None:
        for _ in range(TIMES):
            patiently(either, "UpdateItem", add("one"))

    def transactional() -> None:
        for _ in range(TIMES):
            patiently(either, "TransactWriteItems", transaction({"Update": add("one")}))

    with together(*[single] * 4, *[transactional] * 4):
        pass
    assert amount(either, "one") == 8 * TIMES


def test_transactions_that_touch_different_items_never_conflict(either: Engine) -> None:
    for number in range(THREADS):
        either.call("PutItem", put(f"checked {number}"))

    def write(who: int) -> None:
        check = {**keyed(f"checked {who}"), "ConditionExpression": "attribute_exists(pk)"}
        for number in range(TIMES):
            actions = transaction(
                {"Put": put(f"new {who} {number}")},
                {"Update": add(f"counter {who}")},
                {"ConditionCheck": check},
            )
            either.call("TransactWriteItems", actions)  # not patiently: a conflict would be raised
            either.call("UpdateItem", add(f"single {who}"))

    with together(*[lambda who=who: write(who) for who in range(THREADS)]):
        pass
    counted = [amount(either, f"{kind} {who}") for kind in ("counter", "single") for who in range(THREADS)]
    assert counted == [TIMES] * 2 * THREADS


def test_disjoint_transactions_of_one_group_are_all_written_and_one_that_shares_an_item_is_not(
    either: Engine,
) -> None:
    writes = [
        ("TransactWriteItems", transaction({"Update": add(f"a {n}")}, {"Update": add(f"b {n}")}))
        for n in range(16)
    ]
    shared = "TransactWriteItems", transaction({"Update": add("c")}, {"Update": add("b 3")})
    group = either.start_group([*writes, shared], wait=True)
    assert group is not None
    *outcomes, last = group.finish()
    assert all(isinstance(outcome, bytes) for outcome in outcomes)
    assert isinstance(last, ServiceError)
    assert [reason["Code"] for reason in last.fields["CancellationReasons"]] == [
        "None",
        "TransactionConflict",
    ]
    assert [amount(either, f"b {n}") for n in range(16)] == [1] * 16


def test_of_concurrent_creators_exactly_one_wins(either: Engine) -> None:
    won: list[tuple[int, int]] = []

    def create(who: int) -> None:
        for number in range(TIMES):
            request = put(f"pet {number}", owner=str(who)) | {
                "ConditionExpression": "attribute_not_exists(pk)"
            }
            try:
                either.call("PutItem", request)
                won.append((number, who))
            except ServiceError as refused:
                if refused.name != "ConditionalCheckFailedException":
                    raise

    with together(*[lambda who=who: create(who) for who in range(THREADS)]):
        pass
    assert sorted(number for number, _ in won) == list(range(TIMES))
    for number, who in won:
        item = either.call("GetItem", keyed(f"pet {number}"))["Item"]
        assert item["owner"] == {"S": str(who)}


def test_a_transactional_read_never_sees_half_a_transaction(either: Engine) -> None:
    either.call("UpdateItem", add("left", 1000))
    either.call("UpdateItem", add("right", 1000))
    over = threading.Event()
    sums: list[int] = []

    def move() -> None:
        for _ in range(TIMES * 2):
            patiently(
                either,
                "TransactWriteItems",
                transaction({"Update": add("left", -1)}, {"Update": add("right", 1)}),
            )
        over.set()

    def look() -> None:
        while not over.is_set():
            got = either.call(
                "TransactGetItems", transaction({"Get": keyed("left")}, {"Get": keyed("right")})
            )
            sums.append(sum(int(one["Item"]["amount"]["N"]) for one in got["Responses"]))

    with together(move, look, look):
        pass
    assert sums
    assert set(sums) == {2000}


def test_a_scan_never_sees_half_a_transaction(either: Engine) -> None:
    over = threading.Event()

    def pair() -> None:
        for number in range(TIMES * 2):
            sides = [{"Put": put(f"{side} {number}")} for side in ("left", "right")]
            patiently(either, "TransactWriteItems", transaction(*sides))
        over.set()

    def look() -> None:
        while not over.is_set():
            seen = [item["pk"]["S"].split() for item in either.call("Scan", {"TableName": "pets"})["Items"]]
            assert len({number for _, number in seen}) * 2 == len(seen)

    with together(pair, look, look):
        pass


def test_a_thread_reads_what_it_was_answered(either: Engine) -> None:
    def write_and_read(who: int) -> None:
        for number in range(TIMES):
            either.call("PutItem", put(f"pet {who}", number=number))
            assert either.call("GetItem", keyed(f"pet {who}"))["Item"]["number"] == {"N": str(number)}

    with together(*[lambda who=who: write_and_read(who) for who in range(THREADS)]):
        pass


def test_tables_come_and_go_while_others_read_and_write_them(either: Engine) -> None:
    over = threading.Event()

    def come_and_go() -> None:
        for _ in range(TIMES // 5):
            either.call("CreateTable", definition("tent", indexes=("colour",)))
            either.call("PutItem", put("rex", "tent", colour="red"))
            either.call("DeleteTable", {"TableName": "tent"})
        over.set()

    def use(verb: str, request: dict[str, Any]) -> None:
        while not over.is_set():
            try:
                either.call(verb, request)
            except ServiceError as refused:
                if refused.name != "ResourceNotFoundException":
                    raise

    red = {"TableName": "tent", "IndexName": "colour"}
    with together(
        come_and_go,
        lambda: use("PutItem", put("tom", "tent", colour="blue")),
        lambda: use("Scan", red),
        lambda: use("DescribeTable", {"TableName": "tent"}),
        lambda: use("BatchGetItem", {"RequestItems": {"tent": {"Keys": [keyed("rex")["Key"]]}}}),
    ):
        pass
    assert either.call("ListTables", {})["TableNames"] == ["pets"]


def test_an_index_is_created_while_others_write(either: Engine) -> None:
    for number in range(300):
        either.call("PutItem", put(f"old {number}", colour="red"))
    over = threading.Event()

    def write() -> None:
        number = 0
        while not over.is_set():
            number += 1
            either.call("PutItem", put(f"new {number}", colour="blue"))
            either.call("DeleteItem", keyed(f"old {number}"))
            either.call("PutItem", put(f"old {300 - number}", colour=f"c{number}"))

    def create() -> None:
        either.call("UpdateTable", create_index("colour"))
        either.settle()
        over.set()

    with together(write, create):
        pass
    assert names(either, "colour") == names(either)


def test_how_many_rows_were_changed_is_answered_after_what_is_being_written() -> None:
    """In memory there is one connection only, and SQLite refuses a second thread that uses it."""
    is_writing, may_end = threading.Event(), threading.Event()
    answers: list[int] = []

    def wait(_: WriteTransaction) -> None:
        is_writing.set()
        may_end.wait()

    def write(engine: Engine) -> None:
        engine.session.write(wait)

    def ask(engine: Engine) -> None:
        is_writing.wait()
        answers.append(engine.changes())

    with Engine.open() as engine:
        before = engine.changes()
        with together(lambda: write(engine), lambda: ask(engine)):
            is_writing.wait()
            time.sleep(0.05)
            early = list(answers)
            may_end.set()
        assert (len(early), len(answers)) == (0, 1)
        engine.call("CreateTable", definition())
        assert engine.changes() > before
