"""The built-in identity provider and its keys on disk."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from fastapi import APIRouter
from tests.edge.talk import app_of, calling

from tablewright.edge import Issuer, Verifier
from tablewright.edge.app import listening, serving_app, url_of
from tablewright.edge.identity import KeyFileExposed, KeyFileUnusable, LifetimeTooLong
from tablewright.edge.problems import Problem
from tablewright.testing import Clock
from tablewright.world import World

HOUR = timedelta(hours=1)
URL = "https://id.example"


def issue(issuer: Issuer, subject: str = "sam") -> str:
    return issuer.issue(subject, audience="web", lifetime=HOUR)


def kids(issuer: Issuer) -> list[str]:
    return [key["kid"] for key in issuer.jwks()["keys"]]


def test_what_is_issued_is_what_is_verified(issuer: Issuer) -> None:
    token = issuer.issue(
        "sam",
        audience="web",
        lifetime=HOUR,
        roles=["admin"],
        email="s@x.example",
        claims={"amr": ["pwd", "mfa"], "scope": "read"},
    )
    found = issuer.verifier(["web"]).verify(token)
    assert (found.subject, found.roles, found.email) == ("sam", frozenset(("admin",)), "s@x.example")
    assert (found.scopes, found.used_mfa) == (frozenset(("read",)), True)


def test_a_token_for_another_audience_or_of_another_issuer_is_refused(
    issuer: Issuer, tmp_path: Path, world: World
) -> None:
    for verifier, token in (
        (issuer.verifier(["other"]), issue(issuer)),
        (issuer.verifier(["web"]), issue(Issuer(tmp_path / "keys", "https://else.example", world))),
        (issuer.verifier(["web"]), issue(Issuer(tmp_path / "else", URL, world))),
    ):
        with pytest.raises(Problem):
            verifier.verify(token)


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
def test_each_algorithm_signs_and_its_key_survives_on_disk(
    tmp_path: Path, world: World, algorithm: str
) -> None:
    token = issue(Issuer(tmp_path, URL, world, algorithm=algorithm))
    assert jwt.get_unverified_header(token)["alg"] == algorithm
    assert Issuer(tmp_path, URL, world).verifier(["web"]).verify(token).subject == "sam"


def test_an_algorithm_with_a_shared_secret_is_refused(tmp_path: Path, world: World) -> None:
    with pytest.raises(ValueError, match="EdDSA, ES256 or RS256"):
        Issuer(tmp_path, URL, world, algorithm="HS256")


def test_a_key_is_its_owners_alone_whatever_the_umask(tmp_path: Path, world: World) -> None:
    before = os.umask(0)
    try:
        Issuer(tmp_path / "new" / "keys", URL, world)
    finally:
        os.umask(before)
    directory = tmp_path / "new" / "keys"
    (file,) = directory.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (directory, file)] == [0o700, 0o600]


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path, world: World) -> None:
    Issuer(tmp_path, URL, world)
    (tmp_path / "000001.json").chmod(0o640)
    with pytest.raises(KeyFileExposed, match="chmod 600"):
        Issuer(tmp_path, URL, world)


@pytest.mark.parametrize(
    "content", ["", "{}", '{"algorithm":"EdDSA","made":"2026-01-01","private":"x"}', "[]"]
)
def test_a_key_file_that_is_none_is_named(tmp_path: Path, world: World, content: str) -> None:
    path = tmp_path / "000001.json"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileUnusable, match=str(path)):
        Issuer(tmp_path, URL, world)


def test_issuers_that_start_together_sign_with_the_same_key(tmp_path: Path, world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        issuers = list(pool.map(lambda _: Issuer(tmp_path, URL, world), range(8)))
    assert len({tuple(kids(issuer)) for issuer in issuers}) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["000001.json"]


def test_issuers_that_rotate_together_end_with_the_same_key(tmp_path: Path, world: World) -> None:
    issuers = [Issuer(tmp_path, URL, world) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda issuer: issuer.rotate(), issuers))
    assert len({tuple(kids(issuer)) for issuer in issuers}) == 1


def test_an_unfinished_key_of_a_process_that_died_is_never_read(tmp_path: Path, world: World) -> None:
    (tmp_path / "000001.abc.draft").write_text('{"algorithm": "EdD')
    assert len(kids(Issuer(tmp_path, URL, world))) == 1


def test_after_a_rotation_new_tokens_have_the_new_key_and_old_ones_still_work(issuer: Issuer) -> None:
    old = issue(issuer)
    kid = issuer.rotate()
    assert jwt.get_unverified_header(issue(issuer))["kid"] == kid != jwt.get_unverified_header(old)["kid"]
    verifier = issuer.verifier(["web"])
    assert [verifier.verify(token).subject for token in (old, issue(issuer, "anna"))] == ["sam", "anna"]


def test_a_rotation_in_another_process_is_seen(tmp_path: Path, world: World) -> None:
    one, other = Issuer(tmp_path, URL, world), Issuer(tmp_path, URL, world)
    kid = other.rotate()
    assert jwt.get_unverified_header(issue(one))["kid"] == kid


def test_a_succeeded_key_leaves_the_jwks_when_its_last_token_is_out_and_its_file_at_the_next_rotation(
    tmp_path: Path, clock: Clock
) -> None:
    issuer = Issuer(tmp_path, URL, clock.world(), longest=HOUR)
    (first,) = kids(issuer)
    second = issuer.rotate()
    clock.move(HOUR)
    assert kids(issuer) == [first, second]
    clock.move(timedelta(minutes=2))
    assert kids(issuer) == [second]
    third = issuer.rotate()
    assert kids(issuer) == [second, third]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000002.json", "000003.json"]


def test_a_token_cannot_outlive_the_key_that_signed_it(tmp_path: Path, world: World) -> None:
    issuer = Issuer(tmp_path, URL, world, longest=HOUR)
    for lifetime in (timedelta(hours=2), timedelta(0), timedelta(seconds=-5)):
        with pytest.raises(LifetimeTooLong):
            issuer.issue("sam", audience="web", lifetime=lifetime)


def test_a_token_is_for_somebody_and_its_own_claims_are_the_issuers(issuer: Issuer) -> None:
    with pytest.raises(ValueError, match="needs a subject"):
        issue(issuer, "")
    with pytest.raises(ValueError, match="exp, roles"):
        issuer.issue("sam", audience="web", lifetime=HOUR, claims={"roles": ["admin"], "exp": 1})


def test_no_private_part_is_published(issuer: Issuer) -> None:
    with calling(app_of(issuer.router())) as client:
        response = client.get("/.well-known/jwks.json")
    assert response.json() == issuer.jwks()
    assert {name for key in response.json()["keys"] for name in key} == {
        "alg",
        "crv",
        "kid",
        "kty",
        "use",
        "x",
    }
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert "PRIVATE" not in json.dumps(response.json()) + repr(vars(issuer))


def test_others_find_the_keys_over_http_and_follow_a_rotation(tmp_path: Path, clock: Clock) -> None:
    opened = listening()
    issuer = Issuer(tmp_path, url_of(opened), clock.world())
    with serving_app(app_of(issuer.router()), opened=opened) as url:
        verifier = Verifier.of_oidc(url, ["web"], clock.world())
        direct = Verifier.of_oidc(url, ["web"], clock.world(), jwks_url=f"{url}/.well-known/jwks.json")
        assert [each.verify(issue(issuer)).subject for each in (verifier, direct)] == ["sam", "sam"]
        issuer.rotate()
        clock.move(timedelta(seconds=11))
        assert [each.verify(issue(issuer)).subject for each in (verifier, direct)] == ["sam", "sam"]


def test_an_issuer_below_a_path_is_found_there(tmp_path: Path, world: World) -> None:
    opened = listening()
    issuer, outer = Issuer(tmp_path, f"{url_of(opened)}/auth", world), APIRouter(prefix="/auth")
    outer.include_router(issuer.router())
    with serving_app(app_of(outer), opened=opened):
        assert Verifier.of_oidc(issuer.url, ["web"], world).verify(issue(issuer)).subject == "sam"
