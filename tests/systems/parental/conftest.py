"""Fixtures of the tests of parental controls: a place on a way to a database, a clock, simulated firewalls, the API.

Most tests run in this process; those that override `way` run on every way. `--endpoint URL` takes any DynamoDB
endpoint instead, with tables of the test's own that are deleted afterwards.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import boto3
import httpx
import pytest
from fastapi import APIRouter
from tests.client.ways import KEY, REGION, WAYS
from tests.systems.parental.talk import AUDIENCE, SECRET, START, Api, Place

from tablewright import Engine, testing
from tablewright.client import Call, HttpCall, through_boto3
from tablewright.design import Environment
from tablewright.edge import Buckets, Issuer, make_app, principal, serving_app
from tablewright.mapping import Db
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.systems.parental import api as parental_api
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.parental.firewall.driver import FirewallDriver
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.service import Parental, open_parental
from tablewright.testing import Clock


@contextmanager
def _http(url: str) -> Iterator[Call]:
    with HttpCall(url, REGION, KEY) as call:
        yield call


@contextmanager
def _boto3(url: str) -> Iterator[Call]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=KEY.key_id,
        aws_secret_access_key=KEY.secret,
    )
    yield through_boto3(client)
    client.close()


ELSEWHERE = {"http": _http, "boto3": _boto3}


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def issuer(tmp_path: Path, clock: Clock) -> Issuer:
    return Issuer(tmp_path / "keys", "https://id.example", clock.world(), longest=timedelta(days=400))


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How the service reaches its database."""
    return "http" if request.config.getoption("--endpoint") else "embedded"


@pytest.fixture
def at(request: pytest.FixtureRequest, way: str, clock: Clock, issuer: Issuer) -> Iterator[Place]:
    """Parental controls, opened."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with ExitStack() as opened:
        if endpoint is None:
            engine = opened.enter_context(testing.engine(world=clock.world()))
            call = opened.enter_context(WAYS[way](engine))
            here = _open(call, clock, issuer, engine, None)
            opened.callback(here.parental.close)
            yield here
            return
        if way not in ELSEWHERE:
            pytest.skip("the engine of this process is not the endpoint")
        call = opened.enter_context(ELSEWHERE[way](endpoint))
        place = Environment("test", REGION, table_name=f"t-{uuid.uuid4().hex[:12]}-{{table}}")
        here = _open(call, clock, issuer, None, place)
        opened.callback(here.parental.close)
        yield here
        for name in (*PARENTAL.tables, RECEIPTS.name):
            call("DeleteTable", {"TableName": here.db.physical(name)})


def _open(
    call: Call, clock: Clock, issuer: Issuer, engine: Engine | None, place: Environment | None
) -> Place:
    def issue(subject: str, roles: tuple[str, ...], email: str) -> str:
        return issuer.issue(
            subject, audience=AUDIENCE, lifetime=timedelta(hours=12), roles=roles, email=email
        )

    firewalls: dict[str, SimulatedFirewall] = {}

    def driver(device: Device) -> FirewallDriver:
        if device.device_id not in firewalls:
            firewalls[device.device_id] = SimulatedFirewall(clock.world(), sleep=lambda seconds: None)
        return firewalls[device.device_id]

    db = Db(call, PARENTAL, world=clock.world(), secret=SECRET, environment=place)
    db.create_tables()
    parental = open_parental(db, clock.world(), SECRET, issue, drivers=driver)
    parental.registry.load()
    return Place(parental, db, call, clock, issuer, engine, firewalls)


@pytest.fixture
def parental(at: Place) -> Parental:
    return at.parental


@pytest.fixture
def api(at: Place) -> Iterator[Api]:
    """The API, served; its limits go by the clock that can be moved."""
    buckets = Buckets(clock=lambda: at.clock.now().timestamp())
    routes = APIRouter(prefix="/parental")
    routes.include_router(parental_api.router(at.parental, principal(), buckets=buckets))
    app = make_app(
        "parental",
        at.clock.world(),
        verifier=at.issuer.verifier([AUDIENCE]),
        routers=[routes],
        translations=parental_api.TRANSLATIONS,
    )
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    with (
        serving_app(app) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=60, limits=limits) as client,
    ):
        yield Api(client, at.issuer)
