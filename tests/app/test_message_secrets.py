"""With every kind of live code and link on its way, no page, export, table, stream, backup, copy or log shows one."""

from __future__ import annotations

import gzip
import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product as combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from tests.app.crawler import Crawler, crawling, shape_of

from tablewright import testing
from tablewright.app.accounts import ROLES
from tablewright.app.code_login import SignedIn
from tablewright.app.copies.job import bring_further
from tablewright.app.mail import Directory
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS, PARENTAL, PORTAL, TRAVEL
from tablewright.edge import Principal, RateLimiter, serving_app
from tablewright.edge.rate_limit import Decision, RateLimit
from tablewright.kit import codes
from tablewright.kit.delivery import State
from tablewright.kit.tables import Actor as Parent
from tablewright.kit.tables import Actor as Staff
from tablewright.systems.campus.sharing.links import LinkTerms
from tablewright.systems.campus.sharing.targets import target_of
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.pages.checkout import LINK_LASTS
from tablewright.systems.travel.account.accounts import Proved

NOW = datetime(2026, 11, 17, 10, tzinfo=UTC)
STRANGER, NUMBER, OWN, STUDENT = "+15550009999", "+15550001111", "pat@example.com", "lin@example.com"
# The mail directory is where mail is delivered to on a server without a mail server, and this page is its reader.
IS_THE_DELIVERY = "/console/designs/mail"
# How many links of a kind are followed: those that differ in IDs, pages to return to and the like.
_MOST_OF_A_KIND, _RESTORED = 2, "-restored"
_LINK = re.compile(r'href="(/[^"#]*)')
# Here the owner of a public link copies it again.
_OWN_LINKS = re.compile(r"/campus/v1/links|/console/campus/(links|(files|folders)/[^/]+/share)")


@dataclass(frozen=True)
class World:
    """What was made, and who may look at it: a token by role."""

    tokens: Mapping[str, str]
    values: Mapping[str, Sequence[str]]
    secrets: tuple[str, ...]
    links: tuple[str, ...]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    home, away = tmp_path_factory.mktemp("store"), tmp_path_factory.mktemp("away")
    clock = testing.Clock(NOW)
    with open_app(
        home, systems=(PORTAL, PARENTAL, CAMPUS, TRAVEL), world=clock.world(), seed=False, durability="relaxed",
        copies=str(away), jobs=False,
    ) as opened:  # fmt: skip
        yield opened


@pytest.fixture(scope="module")
def made(runtime: Runtime) -> World:
    """Every kind of code and link, in messages that wait to be sent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "_SHORT", 12)  # so that no code is found by chance
        return _made(runtime)


def _made(runtime: Runtime) -> World:
    portal, parental, campus, travel = (each.service for each in runtime.running)
    admin = Staff("admin@example.com", "admin", "admin")
    plan, _ = portal.catalogue.create_product(
        {"name": "Starter", "description": "A site.", "price": Decimal("99.99"), "billing_cycle": "monthly"},
        admin,
    )
    order = portal.checkout.place("buyer@example.com", [Line(plan.id)])
    tenant = portal.tenants.move(order.tenant_id, "VALIDATED", Staff("buyer@example.com", "user"))
    tenant = portal.verification.register(tenant.id)
    portal.verification.start(tenant.email)
    tenant = portal.verification.start_destination(tenant, "forms@example.com", admin)
    account = runtime.accounts.add(OWN)
    parent = Parent(OWN, "parent", account.subject, OWN)
    family = parental.families.create("The Patels", parent)
    parental.children.prove(NUMBER, parent, family.family_id)
    first = next(_codes(parental.dispatch, NUMBER))
    child = parental.children.add(NUMBER, first, "Code", "Europe/Berlin", parent, family_id=family.family_id)
    parental.children.prove(STRANGER, parent, family.family_id)
    invitation = parental.guardians.invite(family.family_id, "ben@example.com", parent)
    travel.email_login.start("maya@example.com")
    traveller = travel.accounts.enter(Proved("email", email="maya@example.com"))
    runtime.code_login.start(OWN)
    student = runtime.accounts.add(STUDENT)
    user = campus.users.entered(Principal(student.subject, frozenset(), email=STUDENT))
    file = campus.uploads.store_whole(user, "notes.txt", [b"one"], 3)
    folder = campus.folders.create(user, "Inbox")
    drop = campus.links.create(user, target_of(folder), LinkTerms(kind="drop"))
    links = (drop, campus.links.create(user, target_of(file), LinkTerms()))
    ticket = campus.file_requests.enter(drop, "Ana").ticket
    staff = {role: runtime.accounts.add(f"{role}@example.com", roles=[role]) for role in ROLES}
    tokens = {role: runtime.login_of(SignedIn(it, ("pwd", "otp", "mfa"))) for role, it in staff.items()}
    tokens |= {
        "customer": portal.token_for(tenant),
        "parent": runtime.login_of(SignedIn(account, ("otp",))),
        "traveller": traveller.token,
        "student": runtime.login_of(SignedIn(student, ("otp",))),
    }
    states: tuple[State, ...] = ("PENDING", "SENT")
    outbox = [portal.repository.db.all(portal.repository.outbox.in_state(state)) for state in states]
    ids = {
        "tenants": [tenant.id], "products": [plan.id], "orders": [order.order_id],
        "families": [family.family_id], "invitations": [invitation.invitation_id],
        "outbox": [mail.message_id for mails in outbox for mail in mails],
    }  # fmt: skip
    values = {
        **{f"{word}/id": found for word, found in ids.items()},
        "id": [one for found in ids.values() for one in found],
        "key": [child.child], "phone": [child.child], "subject": [account.subject], "who": [OWN, "me"],
        "of": ["policies", "history", "metrics"], "name": ["TikTok"], "region_type": ["country"], "code": ["US"],
        "user_id": [traveller.profile.user_id, user.user_id], "file_id": [file.file_id],
        "folder_id": [folder.folder_id], "item_id": [file.file_id, folder.folder_id],
        "device_id": ["web"], "design": list(runtime.designs),
        "path": ["console.css"], "table": [], "tag": [],
    }  # fmt: skip
    seal = portal.previews.token(order.order_id, portal.repository.now(), LINK_LASTS)
    tokens_of_links = tuple(campus.links.secrets.token(link.link_id) for link in links)
    return World(tokens, values, (*_secrets(runtime), seal, ticket, *tokens_of_links), tokens_of_links)


def _codes(dispatch: Any, recipient: str) -> Iterator[str]:
    for text in _texts(dispatch):
        if text[0] == recipient:
            yield from re.findall(r"\d{12}", text[1])


def _texts(dispatch: Any) -> Iterator[tuple[str, str]]:
    """What waits, as its readers will get it."""
    for message in dispatch.by_state("PENDING"):
        letter = dispatch.render(message)
        yield letter.recipient, f"{letter.subject} {letter.body}"


def _secrets(runtime: Runtime) -> list[str]:
    """All codes, the secrets of links, and links that are secret as a whole."""
    texts = [text for post in runtime.posts for _, text in _texts(post.dispatch)]
    found = [re.findall(r"\b\d{12}\b|(?<=secret=)\w+|http\S+/invitations/\S+", text) for text in texts]
    return list(dict.fromkeys(secret for each in found for secret in each))


def test_there_is_a_secret_of_every_kind(made: World) -> None:
    digits = [secret for secret in made.secrets if secret.isdigit()]
    assert len(digits) == 6, "portal: verification, destination; parental: two numbers; Skratch; the app"
    assert sum("/invitations/" in secret for secret in made.secrets) == 1
    assert len(made.secrets) == len(digits) + 1 + 2 + 1 + 3, (
        "two links of the portal, and the page of an order; of the campus two links and a sender's ticket"
    )


# --- pages and exports ---


@pytest.fixture(scope="module")
def app(runtime: Runtime) -> FastAPI:
    return app_of(runtime, is_demo=False)


@pytest.fixture(scope="module")
def paths(app: FastAPI) -> list[str]:
    """Every path one can GET."""
    return [
        route.path
        for route in iter_route_contexts(app.routes)
        if isinstance(route.original_route, APIRoute) and route.path and "GET" in (route.methods or ())
    ]


@pytest.fixture(scope="module")
def url(app: FastAPI) -> Iterator[str]:
    """The app, served without limits of rate: nobody is slowed down by who looked before."""
    with pytest.MonkeyPatch.context() as patch, serving_app(app) as served:
        patch.setattr(RateLimiter, "take", lambda self, key, pace: Decision(True, RateLimit(1, 1).burst, 0))
        yield served


def _crawling(url: str, token: str | None) -> AbstractContextManager[Crawler]:
    return crawling(url, {"Authorization": f"Bearer {token}"} if token else {})


def _filled(path: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The path with every combination of values; those of `tenants/{id}` are of tenants, if there are such."""
    holes = re.findall(r"(\w*)/{(\w+)[^}]*}", path)
    names = [name for _, name in holes]
    fitting = [values.get(f"{word}/{name}", values.get(name, ["none"])) for word, name in holes]
    for chosen in combinations(*fitting):
        filled = path
        for name, value in zip(names, chosen, strict=True):
            filled = re.sub(rf"{{{name}(:\w+)?}}", quote(value, safe=""), filled)
        yield filled


def _kind_of(link: str) -> tuple[str, ...]:
    """A link with the words that its query chooses by, such as a state, and without other values."""
    query = sorted(parse_qsl(urlsplit(link).query, keep_blank_values=True))
    return shape_of(link), *(f"{name}={value if value.isalpha() else '*'}" for name, value in query)


EXPORTS = {
    "customer": ["/portal/v1.0/me/export"],
    "portal.admin": ["/portal/v1.0/tenants/{id}/export", "/console/portal/outbox/{id}"],
    "parent": ["/parental/v1/children/{phone}/export", "/console/parental/children/{key}/export.json"],
    "traveller": ["/travel/v1/export"],
    "student": ["/campus/v1/me/export", "/console/campus/profile/export", "/campus/v1/files/{file_id}"],
    "engineer": ["/console/designs/items"],
}


@pytest.mark.parametrize("role", ["nobody", "customer", "parent", "student", "traveller", *ROLES])
def test_no_page_and_no_export_of_any_role_shows_a_live_code_or_link(
    url: str, paths: list[str], made: World, role: str
) -> None:
    with _crawling(url, made.tokens.get(role)) as ask:
        seen = dict.fromkeys(paths, 0)
        todo = [(path, template) for template in paths for path in _filled(template, made.values)]
        known = {path for path, _ in todo}
        kinds = Counter[tuple[str, ...]]()
        for path, template in todo:
            if path.startswith(IS_THE_DELIVERY):
                continue
            page = ask("GET", path)
            assert page.status < 500, path
            shown = set(_found(page.text + page.headers, made))
            is_own = role == "student" and _OWN_LINKS.fullmatch(path) is not None
            assert shown <= (set(made.links) if is_own else set()), (role, path)
            seen[template] = seen.get(template, 0) + (page.status == 200)
            links = {link.replace("&amp;", "&") for link in _LINK.findall(page.text)} - known
            for link in sorted(links) if path.startswith("/console") else ():
                kinds[kind := _kind_of(link)] += 1
                if not link.startswith("/static") and kinds[kind] <= _MOST_OF_A_KIND:
                    known.add(link)
                    todo.append((link, "a link"))
    assert [path for path in EXPORTS.get(role, []) if not seen[path]] == []


def test_the_items_of_a_table_are_shown_to_an_engineer_without_codes(
    runtime: Runtime, url: str, made: World
) -> None:
    with _crawling(url, made.tokens["engineer"]) as ask:
        for table, items in _tables(runtime).items():
            page = ask("GET", f"/console/designs/items?{urlencode({'table': table})}")
            assert _found(page.text, made) == [], table
            for item in items:
                if "recipient" in item:
                    where = {"table": table, "k.PK": item["PK"]["S"], "k.SK": item["SK"]["S"]}
                    page = ask("GET", f"/console/designs/item?{urlencode(where)}")
                    assert page.status == 200
                    assert _found(page.text, made) == [], where


def _found(text: str, made: World) -> list[str]:
    return [secret for secret in made.secrets if secret in text]


# --- what is stored ---


def _tables(runtime: Runtime) -> dict[str, list[dict[str, Any]]]:
    names = runtime.call("ListTables", {})["TableNames"]
    return {name: _scan(runtime, name) for name in names if not name.endswith(_RESTORED)}


def _scan(runtime: Runtime, table: str) -> list[dict[str, Any]]:
    items, start = list[dict[str, Any]](), None
    while True:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        answer = runtime.call("Scan", {"TableName": table, **more})
        items += answer["Items"]
        start = answer.get("LastEvaluatedKey")
        if not start:
            return items


def _records(runtime: Runtime) -> Iterator[str]:
    for stream in runtime.call("ListStreams", {})["Streams"]:
        arn = stream["StreamArn"]
        for shard in runtime.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]:
            place = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            at = runtime.call("GetShardIterator", place)["ShardIterator"]
            while at:
                answer = runtime.call("GetRecords", {"ShardIterator": at})
                yield repr(answer["Records"])
                at = answer.get("NextShardIterator") if answer["Records"] else None


def _restored(runtime: Runtime, table: str) -> str:
    """A table as its backup has it."""
    backup = runtime.call("CreateBackup", {"TableName": table, "BackupName": "walk"})["BackupDetails"]
    target = f"{table}{_RESTORED}"
    _await(runtime, "DescribeBackup", {"BackupArn": backup["BackupArn"]}, "AVAILABLE")
    runtime.call("RestoreTableFromBackup", {"BackupArn": backup["BackupArn"], "TargetTableName": target})
    _await(runtime, "DescribeTable", {"TableName": target}, "ACTIVE")
    text = repr(_scan(runtime, target))
    runtime.call("DeleteTable", {"TableName": target})
    return text


def _await(runtime: Runtime, verb: str, what: Mapping[str, str], state: str) -> None:
    ends = time.monotonic() + 30
    while f"'{state}'" not in repr(runtime.call(verb, what)):
        assert time.monotonic() < ends, (verb, what)
        time.sleep(0.02)


def _copied(runtime: Runtime) -> Iterator[str]:
    assert runtime.copying is not None
    for _ in range(200):
        bring_further(runtime.copying)
        time.sleep(0.02)
        files = [file for file in Path(runtime.copying.place.where).rglob("*") if file.is_file()]
        if any("whole" in file.parts for file in files):
            break
    for file in files:
        content = file.read_bytes()
        is_packed = content[:2] == b"\x1f\x8b"
        yield (gzip.decompress(content) if is_packed else content).decode(errors="replace")


def test_no_table_stream_backup_or_copy_holds_a_live_code_or_link(runtime: Runtime, made: World) -> None:
    tables = _tables(runtime)
    assert sum("recipient" in item for items in tables.values() for item in items) == 8
    for table, items in tables.items():
        assert _found(repr(items), made) == [], table
        if any("recipient" in item for item in items):
            restored = _restored(runtime, table)
            assert "recipient" in restored
            assert _found(restored, made) == [], f"the backup of {table}"
    records = list(_records(runtime))
    assert any("recipient" in record for record in records)
    assert [_found(record, made) for record in records if _found(record, made)] == []
    copies = list(_copied(runtime))
    assert any("recipient" in copy for copy in copies)
    assert [_found(copy, made) for copy in copies if _found(copy, made)] == []


def test_sending_leaves_no_sealed_part_behind_and_nothing_in_the_log(
    runtime: Runtime, made: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        runtime.deliver()
    sent = [item for items in _tables(runtime).values() for item in items if "recipient" in item]
    assert sent
    assert [item for item in sent if "secrets" in item] == []
    assert _found(repr(_tables(runtime)), made) == []
    assert _found(" ".join(repr(vars(record)) for record in caplog.records), made) == []
    assert isinstance(runtime.mail.way, Directory)
    delivered = " ".join(f"{letter.subject} {letter.body}" for letter in runtime.mail.way.letters())
    assert len(_found(delivered, made)) == len(made.secrets) - 4, (
        "all but the page of an order, links and a sender's ticket, which no mail has"
    )
