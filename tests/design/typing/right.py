"""Every part of the design language, used as it is meant: clean under mypy --strict and pyright strict."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Literal, NewType, assert_never, assert_type

from pydantic import BaseModel, Field
from tests.design.typing.stand_in import Db, Page

from tablewright.design import (
    Alarm,
    Backups,
    Budget,
    Copy,
    Data,
    Design,
    Entity,
    Environment,
    Expires,
    Get,
    Keys,
    Load,
    OnDemand,
    Provisioned,
    Query,
    Readable,
    Refresh,
    Retention,
    Slot,
    SoftDelete,
    States,
    Unique,
    Write,
    above,
    at_least,
    at_most,
    begins,
    begins_with,
    below,
    between,
    contains,
    equals,
    exists,
    one_of,
    size,
)

OwnerId = NewType("OwnerId", str)
Kind = Literal["cat", "dog"]


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


class Collar(BaseModel):
    colour: str
    bell: bool | None = None


class Owner(BaseModel):
    owner_id: OwnerId
    email: str
    rev: int = 0
    logins: int = 0
    credit: Decimal = Decimal(0)
    bonus: Decimal | None = None
    friends: set[str] = Field(default_factory=set[str])
    notes: list[str] = Field(default_factory=list[str])
    first_seen: datetime | None = None


class Pet(BaseModel):
    owner_id: OwnerId
    kind: Kind
    name: str
    age: int = 0
    treats: int | None = None
    mood: Mood = Mood.CALM
    collar: Collar | None = None
    shots: dict[str, date] = Field(default_factory=dict[str, date])
    live: bool = True
    gone_at: datetime | None = None


class Toy(BaseModel):
    owner_id: OwnerId
    toy_id: str
    price: Decimal


class PetName(BaseModel):
    name: str


@dataclass(frozen=True, slots=True)
class OwnerKey:
    owner_id: OwnerId


def pet_key(owner_id: OwnerId, kind: Kind, name: str) -> None: ...


def toy_key(owner_id: OwnerId, toy_id: str) -> None: ...


zoo = Design("zoo", version=2, about="Pets and their people")
main = zoo.table("zoo", pk="PK", sk="SK", ttl="ttl", stream="NEW_AND_OLD_IMAGES", about="everything")
by_mood = main.gsi("by-mood", pk="GPK", sk="GSK", project=("name",), aliases=["moods"])
by_price = main.lsi("by-price", sk="LSK", project="ALL")

# A class is as good a key as a function.
owners = main.entity(
    Owner,
    OwnerKey,
    tag="owner",
    pk="OWNER#{owner_id}",
    sk="OWNER",
    unique=[Unique("email", "{email:lower}", pk="EMAIL#{email:lower}", keep={"owner": "{owner_id}"})],
    version="rev",
    immutable=["first_seen"],
    data={"email": Data.PERSONAL},
    retention=Retention(timedelta(days=365), "to know who called"),
    load={"create": Load(per_month=1000)},
)
pets = main.entity(
    Pet,
    pet_key,
    tag="pet",
    pk="OWNER#{owner_id}",
    sk="PET#{kind}#{name}",
    on={by_mood: Keys("MOOD#{mood}", "AGE#{age:3}#{name}")},
    derived={"search": "{name:lower}"},
    expires=Expires("gone_at", after=timedelta(days=30)),
    soft_delete=SoftDelete("live"),
    states=States("mood", "calm", {"calm": {"wild": ("owner",)}}, overrides=("vet",)),
    about="Animals",
)
toys = main.entity(
    Toy,
    toy_key,
    tag="toy",
    pk="OWNER#{owner_id}",
    sk="TOY#{toy_id}",
    on={by_price: Keys("OWNER#{owner_id}", "{price:6.2}")},
    copies=[Copy("owner_id", "owner", "owner_id", Refresh.SNAPSHOT)],
)


@zoo.query(owners, pets, toys, pk="OWNER#{owner_id}", consistent=True, load=Load(per_second=2))
def household(*, owner_id: OwnerId) -> None:
    """Everything of an owner."""


@zoo.query(pets, pk="OWNER#{owner_id}", sk=begins("PET#{kind}#"), descending=True, page=10, at_most=100)
def pets_of_kind(owner_id: OwnerId, kind: Kind) -> None:
    """An owner's cats, or dogs."""


@zoo.query(
    pets.view(PetName), on=by_mood, pk="MOOD#{mood}", sk=between("AGE#{low:3}", "AGE#{high:3}"), roles=["vet"]
)
def names_by_mood(*, mood: Mood, low: int | None = None, high: int | None = None) -> None:
    """Who is in a mood, by age."""


@zoo.query(toys, on=by_price, pk="OWNER#{owner_id}", sk=[at_least("{price:6.2}")])
def dear_toys(*, owner_id: OwnerId, price: Decimal) -> None:
    """Toys that cost at least this."""


@zoo.get(pets, consistent=True, roles=["owner"])
def pet(*, owner_id: OwnerId, kind: Kind, name: str) -> None:
    """One pet."""


OTHER_SORTS = (above("A#{x}"), at_most("A#{x}"), below("A#{x}"), equals("A#{x}"))

zoo.environment(
    Environment(
        "prod",
        "eu-central-1",
        capacity=Provisioned(read=5, write=5, max_read=50),
        pitr_days=35,
        backups=Backups("0 3 * * *", 30, "vault"),
        budget=Budget(Decimal(100), Decimal(80)),
        table_name="{env}-{table}",
    )
)
zoo.environment(Environment("test", "eu-central-1", capacity=OnDemand()))
zoo.alarm(Alarm("throttled", "ThrottledRequests", Decimal(0), 5))
zoo.build()

ANA = OwnerId("ana")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def reads(db: Db) -> list[str]:
    assert_type(owners.get(ANA), Get[Owner])
    assert_type(pet(owner_id=ANA, kind="cat", name="Tom"), Get[Pet])
    found = db.one(pets.get(ANA, "cat", name="Tom"))
    assert_type(found, Pet | None)
    names = [found.name] if found is not None else []
    query = pets_of_kind(ANA, "cat").where(lambda p: (p.age > 3) & exists(p.collar))
    assert_type(query, Query[Pet])
    names += [p.name for p in db.page(query, size=25).items]
    page = db.page(names_by_mood(mood=Mood.CALM, low=3), size=25)
    assert_type(page, Page[PetName])
    names += [line.name for line in page.items]
    names += [toy.toy_id for toy in db.page(dear_toys(owner_id=ANA, price=Decimal(5)), size=5).items]
    for item in db.page(household(owner_id=ANA), size=100, after=page.after).items:
        match item:
            case Owner():
                names.append(item.email)
            case Pet():
                names.append(item.name)
            case Toy():
                names.append(item.toy_id)
            case _:
                assert_never(item)
    return names


def writes(db: Db, owner: Owner, tom: Pet, ball: Toy) -> Owner:
    older = tom.model_copy(update={"age": tom.age + 1})
    db.write(owners.create(owner), pets.change(tom, older), toys.put(ball), once="visit-1")
    wild = tom.model_copy(update={"mood": Mood.WILD})
    db.write(pets.move(tom, wild, by="owner"), toys.upsert(ball), pets.delete(tom))
    db.write(toys.discard(ANA, "ball"), owners.check(ANA).when(lambda o: o.logins > 0))
    update = (
        owners.update(ANA)
        .at(lambda o: o.logins).add(1)
        .at(lambda o: o.credit).add(Decimal("2.50"))
        .at(lambda o: o.bonus).add(Decimal(1))
        .at(lambda o: o.friends).include("bob", "eve")
        .at(lambda o: o.notes).append("called", "again")
        .when(lambda o: size(o.notes) < 100)
    )  # fmt: skip
    assert_type(update, Write[Owner])
    return db.changed(update)


def updates(db: Db) -> None:
    start = pets.update(ANA, "cat", "Tom")
    slot = start.at(lambda p: p.collar)
    assert_type(slot, Slot[Pet, Collar | None])
    db.write(
        slot.set(Collar(colour="red")),
        slot.set(None),
        slot.remove(),
        start.at(lambda p: p.treats).add(2),
        start.at(lambda p: p.treats).remove(),
        start.at(lambda p: p.shots["rabies"]).set(date(2026, 1, 31)),
        owners.update(ANA).at(lambda o: o.friends).exclude("eve"),
        owners.update(ANA).at(lambda o: o.friends).set({"eve"}),
        owners.update(ANA).at(lambda o: o.logins).lowest(3),
        owners.update(ANA).at(lambda o: o.logins).highest(3),
    )


def conditions() -> None:
    start = pets.update(ANA, "cat", "Tom")
    start.when(lambda p: one_of(p.kind, ["cat", "dog"]))
    start.when(lambda p: begins_with(p.name, "T") | contains(p.name, "om"))
    start.when(lambda p: (p.mood == Mood.CALM) & (p.age <= 9) & (p.live == True))  # noqa: E712  fields are noted
    start.when(lambda p: p.treats == None)  # noqa: E711  an identity cannot be noted


def anything_readable(of: Readable[Pet], entity: Entity[Pet, [OwnerId, Kind, str]]) -> Get[Pet]:
    del of
    return entity.get(ANA, "cat", "Tom")
