"""Export and erasure of a person from one declaration: what is shown, what goes, what stays and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Data, Design, Expires, Keys, SoftDelete, Unique, begins
from tablewright.kit.erased import Certificate, ErasedList, erased_list
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.subjects import Part, Step, Subject
from tablewright.kit.tables import Store
from tablewright.mapping import Db
from tablewright.testing import Clock

CLINIC = Design("clinic")
table = CLINIC.table("clinic", pk="PK", sk="SK", ttl="ttl")
by_vet = table.gsi("VetIndex", pk="vet", sk="vetAt")


class Owner(BaseModel):
    id: str
    email: str
    pin: str = "1234"
    active: bool = True
    version: int = 1


class Visit(BaseModel):
    owner: str
    day: str
    notes: str = ""
    until: datetime | None = None


class Bill(BaseModel):
    owner: str
    number: str
    total: int


class Chip(BaseModel):
    owner: str
    code: str


class Referral(BaseModel):
    code: str
    owner: str
    said: str


def owner_key(id: str) -> None: ...
def visit_key(owner: str, day: str) -> None: ...
def bill_key(owner: str, number: str) -> None: ...
def chip_key(owner: str, code: str) -> None: ...
def referral_key(code: str) -> None: ...


owners = table.entity(
    Owner, owner_key, tag="owner", pk="OWNER#{id}", sk="OWNER", version="version",
    unique=[Unique("email", "{email:lower}")], soft_delete=SoftDelete("active"),
    data={"email": Data.PERSONAL, "pin": Data.SECRET},
)  # fmt: skip
visits = table.entity(
    Visit, visit_key, tag="visit", pk="OWNER#{owner}", sk="VISIT#{day}", expires=Expires("until"),
    data={"notes": Data.PERSONAL},
)  # fmt: skip
bills = table.entity(
    Bill, bill_key, tag="bill", pk="OWNER#{owner}", sk="BILL#{number}", data={"total": Data.FINANCIAL}
)
chips = table.entity(
    Chip, chip_key, tag="chip", pk="OWNER#{owner}", sk="CHIP#{code}", unique=[Unique("chip", "{code}")],
    data={"code": Data.PERSONAL},
)  # fmt: skip
referrals = table.entity(
    Referral, referral_key, tag="referral", pk="REFERRAL#{code}", sk="REFERRAL",
    on={by_vet: Keys("OF#{owner}", "{code}")}, data={"said": Data.PERSONAL},
)  # fmt: skip


@CLINIC.get(owners, consistent=True)
def owner_by_id(*, id: str) -> None:
    """One owner."""


@CLINIC.query(visits, pk="OWNER#{owner}", sk=begins("VISIT#"))
def visits_of(*, owner: str) -> None:
    """The visits of an owner."""


@CLINIC.query(bills, pk="OWNER#{owner}", sk=begins("BILL#"))
def bills_of(*, owner: str) -> None:
    """The bills of an owner."""


@CLINIC.query(chips, pk="OWNER#{owner}", sk=begins("CHIP#"))
def chips_of(*, owner: str) -> None:
    """The chips of an owner's pets."""


@CLINIC.query(visits, bills, pk="OWNER#{owner}", others=True)
def everything_of(*, owner: str) -> None:
    """Whatever lies in the partition of an owner."""


@CLINIC.query(referrals, on=by_vet, pk="OF#{owner}")
def referrals_of(*, owner: str) -> None:
    """What other clinics said of an owner."""


@dataclass
class Clinic:
    store: Store
    erased: ErasedList
    clock: Clock
    steps: list[str]

    @property
    def subject(self) -> Subject[str]:
        return Subject(
            "owner",
            self.store,
            lambda id: id,
            (
                Part(owner_by_id, "owner", redact=lambda _, it: it.model_copy(update={"email": f"{it.id}@erased"})),
                Part(visits_of, "visits"),
                Part(bills_of, "bills", keep="tax law, for seven years"),
                Part(chips_of, "chips", without=frozenset(("owner",))),
                Part(
                    referrals_of, "referrals", only=lambda id, it: it.said != "nothing",
                    show=lambda it: {"said": it.said.upper()},
                ),
                Step("picture", self._step),
            ),
            self.erased,
        )  # fmt: skip

    def _step(self, id: str) -> int:
        self.steps.append(id)
        return 2


@pytest.fixture
def clinic() -> Iterator[Clinic]:
    clock = Clock()
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), CLINIC, world=clock.world())
        db.create_tables()
        for id in ("ana", "ben"):
            db.write(owners.create(Owner(id=id, email=f"{id}@example.org")))
            db.batch(visits.put(Visit(owner=id, day=f"2024-01-{day:02}", notes=id)) for day in range(1, 31))
            db.batch([bills.put(Bill(owner=id, number="1", total=20))])
            db.write(chips.create(Chip(owner=id, code=f"756-{id}")))
            db.batch(
                referrals.put(Referral(code=f"{id}{n}", owner=id, said=said))
                for n, said in enumerate(("kind", "nothing"))
            )
        yield Clinic(Store(db, clock.world()), ErasedList(), clock, [])


def test_an_export_has_every_part_of_the_person_and_of_no_other(clinic: Clinic) -> None:
    told = clinic.subject.export("ana")
    assert list(told) == ["owner", "visits", "bills", "chips", "referrals"]
    assert len(told["visits"]) == 30
    assert told["chips"] == [{"code": "756-ana"}]
    assert told["referrals"] == [{"said": "KIND"}]
    assert "ben" not in repr(told)


def test_an_export_has_no_secret_field(clinic: Clinic) -> None:
    assert clinic.subject.export("ana")["owner"] == {
        "id": "ana",
        "email": "ana@example.org",
        "active": True,
        "version": 1,
    }


def test_an_export_has_what_is_deleted_softly(clinic: Clinic) -> None:
    before = clinic.store.db.one(owner_by_id(id="ana"))
    assert before is not None
    clinic.store.db.write(owners.change(before, before.model_copy(update={"active": False})))
    assert clinic.subject.export("ana")["owner"]["active"] is False


def test_an_erasure_deletes_redacts_and_keeps_as_declared_and_says_how_much(clinic: Clinic) -> None:
    db = clinic.store.db
    certificate = clinic.subject.erase("ana")
    assert certificate.erased == {"owner": 1, "visit": 30, "chip": 1, "referral": 1, "picture": 2}
    assert certificate.kept == {"bill": "tax law, for seven years"}
    left = clinic.subject.export("ana")
    assert left["owner"]["email"] == "ana@erased"
    assert (left["visits"], left["chips"], left["referrals"]) == ([], [], [])
    assert len(left["bills"]) == 1
    # The guards went with them: the address and the chip can be another's.
    db.write(owners.create(Owner(id="new", email="ana@example.org")))
    db.write(chips.create(Chip(owner="ben", code="756-ana")))
    assert len(clinic.subject.export("ben")["visits"]) == 30


def test_what_has_expired_and_was_not_swept_yet_is_deleted_too(clinic: Clinic) -> None:
    soon = clinic.clock.now() + timedelta(hours=1)
    clinic.store.db.write(visits.put(Visit(owner="ana", day="2023-01-01", until=soon)))
    clinic.clock.move(timedelta(hours=2))
    assert clinic.subject.erase("ana").erased["visit"] == 31


def test_a_person_is_on_the_list_before_the_first_item_goes(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(clinic.store.db, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        clinic.subject.erase("ana")
    assert clinic.erased.entries() == ["ana"]
    proof = clinic.erased.proof("ana", Certificate)
    assert proof is not None
    assert (proof.done_at, proof.erased) == (None, {})


@pytest.mark.parametrize("lives", range(1, 12))
def test_an_erasure_that_was_broken_off_anywhere_is_finished_by_the_next(clinic: Clinic, lives: int) -> None:
    db, left = clinic.store.db, [lives]

    def dying(verb: str, request: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return db._call(verb, request)

    dead = Db(dying, CLINIC, world=clinic.clock.world())
    subject = Clinic(Store(dead, clinic.clock.world()), clinic.erased, clinic.clock, []).subject
    try:
        subject.erase("ana")
    except KeyboardInterrupt:
        clinic.subject.erase("ana")
    shown = clinic.subject.export("ana")
    assert [shown[name] for name in ("visits", "chips", "referrals")] == [[], [], []]
    assert "ana@example.org" not in repr(shown)


def test_a_second_erasure_adds_to_the_certificate(clinic: Clinic) -> None:
    first = clinic.subject.erase("ana")
    clinic.clock.move(timedelta(minutes=5))
    clinic.store.db.write(visits.put(Visit(owner="ana", day="2025-01-01")))
    second = clinic.subject.erase("ana")
    assert (first.erased["visit"], second.erased["visit"]) == (30, 31)
    assert (second.begun_at, second.done_at) == (first.begun_at, clinic.clock.now())
    assert clinic.erased.proof("ana", Certificate) == second


def test_some_parts_can_be_erased_first(clinic: Clinic) -> None:
    assert clinic.subject.erase("ana", "chip", "picture").erased == {"chip": 1, "picture": 2}
    assert len(clinic.subject.export("ana")["visits"]) == 30


def test_what_lies_in_a_partition_that_is_deleted_whole_goes_with_it(clinic: Clinic) -> None:
    parts: tuple[Part[str, Any], ...] = (
        Part(visits_of, "visits", only=lambda _, visit: visit.day < "2024-01-03"),
        Part(referrals_of, "referrals"),
        Part(everything_of, hidden="listed by its entities"),
    )
    subject = Subject("owner", clinic.store, lambda id: id, parts, clinic.erased)
    assert len(subject.export("ana")["visits"]) == 2
    # The owner, 30 visits, a bill and a chip.
    assert subject.erase("ana").erased == {"referral": 2, "everything_of": 33}


# --- the list ---


def test_the_list_is_in_files_that_only_their_owner_can_read(tmp_path: Path) -> None:
    clock = Clock()
    kept = erased_list(tmp_path / "home", clock.world())
    assert kept.entries() == []
    proof = Certificate(subject="owner", begun_at=clock.now())
    kept.note("ana", proof)
    kept.note("ben", proof.model_copy(update={"erased": {"visit": 3}}))
    again = erased_list(tmp_path / "home", clock.world())
    assert again.entries() == ["ana", "ben"]
    found = again.proof("ben", Certificate)
    assert found is not None
    assert found.erased == {"visit": 3}
    (one, _) = sorted((tmp_path / "home" / "erased").iterdir())
    assert one.stat().st_mode & 0o077 == 0


def test_an_entry_of_an_older_store_is_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "erased").mkdir()
    (tmp_path / "erased" / "tenant_1").touch()
    kept = erased_list(tmp_path, Clock().world())
    assert kept.entries() == ["tenant_1"]
    assert kept.proof("tenant_1", Certificate) is None


def test_the_names_on_a_list_may_end_in_a_suffix() -> None:
    objects = InMemory()
    kept = ErasedList(objects, suffix=".json")
    kept.note("e1", Certificate(subject="owner", begun_at=Clock().now()))
    assert list(objects.names("erased/")) == ["erased/e1.json"]
    assert kept.entries() == ["e1"]
