"""Who may do what: the rights that a running system needs are given, and none that it does not need."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from pydantic import BaseModel
from tests.design.iam import Recorder, Right, allows, pairs, without
from tests.systems.travel.account.test_privacy import erase, follow, lived
from tests.systems.travel.people import Home, home_over
from tests.systems.travel.talk import START

from tablewright import testing
from tablewright.app.systems import SYSTEMS
from tablewright.client import embedded
from tablewright.design import Design, Environment, Keys, begins
from tablewright.design.deployment import Deployment, NotDeployable
from tablewright.design.iam import document, plain_arns
from tablewright.design.policies import leading_key, operations, roles
from tablewright.edge import Issuer
from tablewright.kit.system import Start, System
from tablewright.mapping import Db
from tablewright.mapping.deployment import deployment_of
from tablewright.systems.campus.design import DESIGNS as CAMPUS
from tablewright.systems.parental.design import DESIGNS as PARENTAL
from tablewright.systems.portal.design import DESIGNS as PORTAL
from tablewright.systems.travel import design as d
from tablewright.systems.travel import jobs
from tablewright.systems.travel.design import TRAVEL
from tablewright.testing import Clock

ACCOUNT = "123456789012"
PROD = TRAVEL.environments["prod"]
SKRATCH = deployment_of("travel", (TRAVEL,), PROD)
EVERY = [
    deployment_of(name, designs, environment)
    for name, designs in (
        ("portal", PORTAL),
        ("parental", PARENTAL),
        ("campus", CAMPUS),
        ("travel", (TRAVEL,)),
    )
    for environment in designs[0].environments.values()
]
TABLE = "table/skratch-data-prod"
BUCKETS = "arn:aws:s3:::"


def documents(of: Deployment) -> dict[str, dict[str, Any]]:
    arn = plain_arns(of, ACCOUNT)
    return {role.name: document(role, arn) for role in roles(of)}


# --- Skratch, running ---


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> set[Right]:
    """What Skratch needed on a day with a bit of everything in it."""
    home_path: Path = tmp_path_factory.mktemp("skratch")
    clock = Clock(START)
    with testing.engine(world=clock.world()) as engine:
        call = Recorder(
            embedded(engine),
            {"skratch-data-prod": "PK", "receipts-prod": "id", "stream_consumers-prod": "PK"},
        )
        issuer = Issuer(home_path / "keys", "https://id.example", clock.world(), longest=timedelta(days=400))
        home = home_over(call, clock, issuer, home_path, PROD)
        home.travel.follower().create_tables()
        call.is_on = True
        a_day(home)
    return call.needed


def a_day(home: Home) -> None:
    """Skratch from its first login to the end of an account, and what its jobs do meanwhile."""
    jobs.publish_geography(home.travel)
    list(home.db.all(d.regions_in_cell(bbox_key="r01c02")))
    profile = lived(home)
    follow(home)
    home.travel.sync.change_user(profile.user_id, {"privacy_settings": {"share_visits": False}})
    erase(home, profile.user_id, is_followed=True)


def test_sk_34_what_skratch_does_its_service_may(needed: set[Right]) -> None:
    service = documents(SKRATCH)["service"]
    assert len(needed) > 20
    assert [right for right in sorted(needed, key=repr) if not allows(service, right)] == []


def test_sk_34_what_the_service_of_skratch_may_it_does(needed: set[Right]) -> None:
    service = documents(SKRATCH)["service"]
    own = [pair for pair in pairs(service) if TABLE in pair[1]]
    assert len(own) == 14
    unnoticed = [pair for pair in own if all(allows(without(service, *pair), right) for right in needed)]
    assert unnoticed == []


def test_nothing_is_allowed_in_the_clear() -> None:
    service = documents(SKRATCH)["service"]
    assert allows(service, Right("dynamodb:GetItem", TABLE))
    assert not allows(service, Right("dynamodb:GetItem", TABLE, encrypted=False))


def test_the_registry_is_read_whole_and_no_other_table_is() -> None:
    parental = deployment_of("parental", PARENTAL, PARENTAL[0].environments["prod"])
    scanned = [
        resource for action, resource in pairs(documents(parental)["service"]) if action == "dynamodb:Scan"
    ]
    assert [arn.rpartition("/")[2] for arn in scanned] == ["ApplicationRegistry"]


# --- roles of patterns ---


def test_who_shows_the_geography_reads_nothing_of_anybody() -> None:
    public = documents(SKRATCH)["public"]
    may = {
        ("GetItem", TABLE, "GEO#country"): True,
        ("Query", TABLE, "GEO#us_state"): True,
        ("Query", f"{TABLE}/index/GSI1", "SEARCH#country"): True,
        ("Query", f"{TABLE}/index/GSI2", "BOUNDS#r01c02"): True,
        ("GetItem", TABLE, "USER#anna"): False,
        ("Query", TABLE, "SYNC#anna"): False,
        ("GetItem", TABLE, "GEOGRAPHY"): False,
        ("Query", f"{TABLE}/index/GSI1", "REGION#country#FR#00"): False,
        ("PutItem", TABLE, "GEO#country"): False,
        ("Scan", TABLE, None): False,
        ("Query", TABLE, None): False,
    }
    found = {
        (action, resource, key): allows(
            public, Right(f"dynamodb:{action}", resource, None if key is None else (key,))
        )
        for action, resource, key in may
    }
    assert found == may


def test_a_role_of_patterns_is_there_only_if_all_of_them_begin_with_a_literal() -> None:
    assert {role.name for role in roles(SKRATCH)} == {
        "service", "admin", "public", "deployer", "restorer", "backup",
    }  # fmt: skip
    portal = deployment_of("portal", PORTAL, PORTAL[0].environments["prod"])
    assert {role.name for role in roles(portal)} == {"service", "deployer", "restorer", "backup"}


class Pet(BaseModel):
    owner: str
    name: str
    is_old: bool = False


def pet_key(owner: str, name: str) -> None: ...


def pets(**table: Any) -> tuple[Design, Any, Any]:
    design = Design("pets")
    made = design.table("pets", pk="PK", sk="SK", **table)
    index = made.gsi("by-name", pk="GPK")
    entity = made.entity(
        Pet, pet_key, tag="pet", pk="OWNER#{owner}", sk="PET#{name}", on={index: Keys("OLD{is_old:when}")}
    )
    return design, entity, index


@pytest.mark.parametrize(
    ("pk", "begins_with"),
    [("OWNER#{owner}", "OWNER#*"), ("A#B#{owner}", "A#B#*"), ("{owner}", None), ("OWNER{owner}", None)],
)
def test_a_prefix_ends_with_the_delimiter_or_is_none(pk: str, begins_with: str | None) -> None:
    design = Design("pets")
    entity = design.table("pets", pk="PK", sk="SK").entity(Pet, pet_key, tag="pet", pk=pk, sk="PET#{name}")

    @design.query(entity, pk=pk, sk=begins("PET#"))
    def of(*, owner: str) -> None: ...

    assert leading_key(of.plan) == begins_with


def test_a_partition_without_a_part_that_writes_anything_is_itself() -> None:
    design, entity, index = pets()

    @design.query(entity, on=index, pk="OLD{is_old:when}", roles=("vet",))
    def old(*, is_old: bool = True) -> None: ...

    assert leading_key(old.plan) == "OLD"
    vet = documents(deployment_of("pets", (design.build(),), Environment("dev", "us-east-1")))["vet"]
    assert allows(vet, Right("dynamodb:Query", "table/pets/index/by-name", ("OLD",)))
    assert not allows(vet, Right("dynamodb:Query", "table/pets/index/by-name", ("OLDER",)))


def test_a_role_with_tags_reads_exactly_the_partitions_of_its_principal() -> None:
    design, entity, _index = pets()
    design.principal("owner", owner="ownerId")

    @design.query(entity, pk="OWNER#{owner}", sk=begins("PET#"), roles=("owner",))
    def of(*, owner: str) -> None: ...

    document = documents(deployment_of("pets", (design.build(),), Environment("dev", "us-east-1")))["owner"]

    def reads(key: str, **tags: str) -> bool:
        return allows(document, Right("dynamodb:Query", "table/pets", (key,), tags=tuple(tags.items())))

    assert reads("OWNER#family_12", ownerId="family_12")
    assert not reads("OWNER#family_123", ownerId="family_12")
    assert not reads("OWNER#family_12", ownerId="family_123")
    assert not reads("OWNER#", ownerId="family_12")
    assert not reads("OWNER#family_12")
    assert not allows(document, Right("dynamodb:Query", "table/pets", None, tags=(("ownerId", "family_12"),)))
    assert not allows(
        document, Right("dynamodb:GetItem", "table/pets", ("OWNER#x",), tags=(("ownerId", "x"),))
    )


def test_a_role_with_tags_for_some_of_its_partitions_is_not_made() -> None:
    design, entity, _index = pets()
    design.principal("owner", name="petName")

    @design.query(entity, pk="OWNER#{owner}", sk=begins("PET#"), roles=("owner",))
    def of(*, owner: str) -> None: ...

    assert "owner" not in documents(deployment_of("pets", (design.build(),), Environment("dev", "us-east-1")))


# --- what is not given ---


def test_an_index_that_no_pattern_asks_is_not_asked() -> None:
    design, entity, _ = pets()

    @design.query(entity, pk="OWNER#{owner}", sk=begins("PET#"))
    def of(*, owner: str) -> None: ...

    service = documents(deployment_of("pets", (design.build(),), Environment("dev", "us-east-1")))["service"]
    asked = [arn.partition("table/")[2] for action, arn in pairs(service) if action == "dynamodb:Query"]
    assert asked == ["pets"]


def test_a_stream_is_read_only_where_it_is_followed() -> None:
    found = []
    for followed in (False, True):
        design, _, _ = pets(stream="KEYS_ONLY", followed=followed)
        made = deployment_of("pets", (design.build(),), Environment("dev", "us-east-1"))
        service = documents(made)["service"]
        reads = allows(service, Right("dynamodb:GetRecords", "table/pets/stream/1"))
        found.append(({table.name for table in made.tables}, reads))
    assert found == [({"pets", "receipts"}, False), ({"pets", "receipts", "stream_consumers"}, True)]


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.title)
def test_no_role_has_more_than_its_work(of: Deployment) -> None:
    arns = [f":table/{of.physical(table.name)}" for table in of.tables]
    items = {
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "Scan",
        "BatchGetItem",
        "BatchWriteItem",
    }
    for name, said in documents(of).items():
        given = pairs(said)
        assert not [action for action, _ in given if "*" in action]
        lists = {
            "dynamodb:ListTables",
            "dynamodb:ListBackups",
            "dynamodb:ListExports",
            "dynamodb:DescribeLimits",
        }
        assert {action for action, arn in given if arn == "*"} <= lists
        own = [*arns, "arn:aws:backup:", *([BUCKETS + of.title] if of.environment.objects else [])]
        assert all(any(known in arn for known in own) or arn == "*" for _, arn in given)
        if name in ("deployer", "backup"):
            assert not items & {action.removeprefix("dynamodb:") for action, _ in given}
        if name == "restorer":
            touched = [arn for action, arn in given if action.removeprefix("dynamodb:") in items]
            assert all(arn.endswith("-restored*") for arn in touched)


def test_who_protects_tables_from_deletion_keeps_the_deployer_from_it() -> None:
    found = {
        of.title: "dynamodb:DeleteTable" in dict(pairs(documents(of)["deployer"]))
        for of in EVERY
        if of.name == "travel"
    }
    assert found == {"travel-dev": True, "travel-prod": False}


# Rights without an operation of that name: a part of transactions, and what AWS Backup does.
WITHOUT_OPERATION = {"ConditionCheckItem", "StartAwsBackupJob", "RestoreTableFromAwsBackup"}


def test_every_action_is_one_of_amazons() -> None:
    session = botocore.session.get_session()
    known = WITHOUT_OPERATION.union(
        *(session.get_service_model(name).operation_names for name in ("dynamodb", "dynamodbstreams"))
    )
    used = {action for of in EVERY for said in documents(of).values() for action, _ in pairs(said)}
    dynamodbs = {action.removeprefix("dynamodb:") for action in used if action.startswith("dynamodb:")}
    assert dynamodbs - known == set()
    others = {action for action in used if not action.startswith(("dynamodb:", "s3:"))}
    assert others == {
        "backup:DescribeBackupVault", "backup:CopyFromBackupVault", "backup:CopyIntoBackupVault", "backup:TagResource",
    }  # fmt: skip


def test_objects_are_for_the_service_of_a_system_that_keeps_some() -> None:
    touching = {
        (of.name, role)
        for of in EVERY
        for role, said in documents(of).items()
        if any(action.startswith("s3:") for action, _ in pairs(said))
    }
    assert touching == {("campus", "service")}
    campus = next(of for of in EVERY if of.title == "campus-prod")
    service, bucket = documents(campus)["service"], f"{BUCKETS}campus-prod-objects-{ACCOUNT}"
    assert allows(service, Right("s3:PutObject", f"{bucket}/files/a/1"))
    assert not allows(service, Right("s3:PutObject", f"{BUCKETS}campus-prod-trail-{ACCOUNT}/AWSLogs"))
    assert not allows(service, Right("s3:DeleteBucket", bucket))


def test_figures_are_kept_of_operations_that_iam_does_not_know() -> None:
    told = operations(SKRATCH, d.table.table)
    assert {"TransactWriteItems", "TransactGetItems", "Query"} <= set(told)
    assert "ConditionCheckItem" not in told
    assert len(told) <= 10


# A role's own policies, without spaces.
INLINE = 10_240


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.title)
def test_every_policy_is_short_enough_to_be_a_roles_own(of: Deployment) -> None:
    sizes = {name: len(json.dumps(said, separators=(",", ":"))) for name, said in documents(of).items()}
    assert {name: size for name, size in sizes.items() if size > INLINE} == {}


def test_who_takes_over_in_the_region_of_a_replica_may_do_the_same_there() -> None:
    portal = deployment_of("portal", PORTAL, PORTAL[0].environments["prod"])
    given = pairs(documents(portal)["service"])
    regions = {
        region: {(action, arn.partition(":table/")[2]) for action, arn in given if f":{region}:" in arn}
        for region in ("af-south-1", "eu-west-1")
    }
    assert regions["af-south-1"] == regions["eu-west-1"] != set()


def test_a_role_of_patterns_has_a_name_of_its_own() -> None:
    design, entity, index = pets()

    @design.query(entity, on=index, pk="OLD{is_old:when}", roles=("deployer",))
    def old(*, is_old: bool = True) -> None: ...

    with pytest.raises(NotDeployable, match="the role 'deployer' is defined already"):
        roles(deployment_of("pets", (design.build(),), Environment("dev", "us-east-1")))


# --- what the designs say of their streams ---


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_tables_that_are_followed_are_those_that_somebody_follows(system: System, tmp_path: Path) -> None:
    """By what each system says runs by itself."""
    with testing.engine() as engine:
        db = Db(embedded(engine), *system.designs)
        db.create_tables()
        started = system.start(
            Start(db, db.world, b"x" * 32, lambda *who: "a token", "http://here.example", tmp_path)
        )
        names = {
            job.name.partition(":")[0] for job in system.jobs(started) if job.name.startswith("changes of ")
        }
        # A migration follows the table it copies from, run by the app.
        names |= {f"changes of {each.source.table.name}" for each in system.service_migrations(started)}
    tables = [table for design in system.designs for table in design.tables.values()]
    assert names == {f"changes of {table.name}" for table in tables if table.followed}
