"""Which tokens are believed."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tablewright.edge import Issuer, Verifier
from tablewright.edge.identity.issuer import SigningKey, new_key
from tablewright.edge.identity.keys import PublicKey, find_key, read_jwks
from tablewright.edge.problems import Problem
from tablewright.testing import Clock
from tablewright.world import World

ISSUER = "https://id.example"


def key_of(algorithm: str, clock: Clock) -> SigningKey:
    return new_key(1, algorithm, clock.now())


def believing(*keys: SigningKey, world: World, **facts: Any) -> Verifier:
    known = read_jwks({"keys": [dict(key.jwk) for key in keys]})
    verifier = Verifier(
        ISSUER, frozenset(("web",)), lambda kid, algorithm: find_key(known, kid, algorithm), world
    )
    return replace(verifier, **facts)


def claims_at(clock: Clock, **changes: Any) -> dict[str, Any]:
    now = int(clock.now().timestamp())
    claims = {"iss": ISSUER, "sub": "sam", "aud": "web", "iat": now, "exp": now + 60} | changes
    return {name: value for name, value in claims.items() if value is not None}


def signed(key: SigningKey, claims: Mapping[str, Any], **headers: Any) -> str:
    return jwt.encode(dict(claims), key.private, key.algorithm, {"kid": key.kid} | headers)


def refusal(verifier: Verifier, token: str) -> str:
    with pytest.raises(Problem) as caught:
        verifier.verify(token)
    assert caught.value.status == 401
    assert caught.value.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"')
    return caught.value.code


def unsigned(header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims))
    return b".".join((*parts, b"")).decode()


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
def test_a_token_signed_by_a_key_of_the_issuer_is_believed(clock: Clock, algorithm: str) -> None:
    key, verifier_world = key_of(algorithm, clock), clock.world()
    token = signed(
        key,
        claims_at(clock, roles=["admin", 7], email="s@x.example", email_verified=True, scope="read write"),
    )
    found = believing(key, world=verifier_world).verify(token)
    assert (found.subject, found.roles, found.email) == ("sam", frozenset(("admin",)), "s@x.example")
    assert found.scopes == {"read", "write"}
    assert found.claims["iss"] == ISSUER
    assert "s@x.example" not in repr(found)


def test_an_address_nobody_verified_is_not_the_principals(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    for verified in (None, False, "false", 1.5):
        token = signed(key, claims_at(clock, email="s@x.example", email_verified=verified))
        assert believing(key, world=world).verify(token).email is None


def test_a_token_ends_thirty_seconds_after_its_end(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    verifier, token = believing(key, world=world), signed(key, claims_at(clock))
    clock.move(timedelta(seconds=89))
    assert verifier.verify(token).subject == "sam"
    clock.move(timedelta(seconds=1))
    assert refusal(verifier, token) == "TOKEN_EXPIRED"


def test_a_token_begins_at_most_thirty_seconds_early(clock: Clock, world: World) -> None:
    key, now = key_of("EdDSA", clock), int(clock.now().timestamp())
    verifier = believing(key, world=world)
    assert verifier.verify(signed(key, claims_at(clock, nbf=now + 30))).subject == "sam"
    assert refusal(verifier, signed(key, claims_at(clock, nbf=now + 31))) == "TOKEN_NOT_YET_VALID"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"iss": "https://evil.example"}, "TOKEN_FOREIGN"),
        ({"iss": None}, "TOKEN_FOREIGN"),
        ({"iss": ISSUER + "/"}, "TOKEN_FOREIGN"),
        ({"aud": "other"}, "TOKEN_FOREIGN"),
        ({"aud": None}, "TOKEN_FOREIGN"),
        ({"aud": []}, "TOKEN_FOREIGN"),
        ({"aud": {"web": 1}}, "TOKEN_FOREIGN"),
        ({"aud": None, "client_id": "web"}, "TOKEN_FOREIGN"),
        ({"exp": None}, "TOKEN_INVALID"),
        ({"exp": "9999999999"}, "TOKEN_INVALID"),
        ({"exp": True}, "TOKEN_INVALID"),
        ({"exp": float("inf")}, "TOKEN_INVALID"),
        ({"nbf": "now"}, "TOKEN_INVALID"),
        ({"sub": None}, "TOKEN_INVALID"),
        ({"sub": ""}, "TOKEN_INVALID"),
        ({"sub": 7}, "TOKEN_INVALID"),
    ],
)
def test_a_signed_token_that_claims_the_wrong_thing_is_refused(
    clock: Clock, world: World, changes: dict[str, Any], code: str
) -> None:
    key = key_of("EdDSA", clock)
    assert refusal(believing(key, world=world), signed(key, claims_at(clock, **changes))) == code


def test_one_of_several_audiences_is_enough(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    assert (
        believing(key, world=world).verify(signed(key, claims_at(clock, aud=["x", "web"]))).subject == "sam"
    )


def test_an_unsigned_token_is_refused_however_it_spells_none(clock: Clock, world: World) -> None:
    verifier = believing(key_of("EdDSA", clock), world=world)
    for spelling in ("none", "None", "NONE", "", None, ["none"]):
        assert (
            refusal(verifier, unsigned({"alg": spelling, "typ": "JWT"}, claims_at(clock))) == "TOKEN_INVALID"
        )


def test_a_public_key_is_no_shared_secret(clock: Clock, world: World) -> None:
    key = key_of("RS256", clock)
    public: Any = find_key(read_jwks({"keys": [dict(key.jwk)]}), key.kid, "RS256")
    pem = public.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": key.kid}).encode()).rstrip(b"=")
    body = base64.urlsafe_b64encode(json.dumps(claims_at(clock)).encode()).rstrip(b"=")
    mac = base64.urlsafe_b64encode(hmac.digest(pem, head + b"." + body, "sha256")).rstrip(b"=")
    assert refusal(believing(key, world=world), b".".join((head, body, mac)).decode()) == "TOKEN_INVALID"


def test_a_key_of_somebody_else_does_not_sign_under_our_keys_name(clock: Clock, world: World) -> None:
    ours, theirs = key_of("EdDSA", clock), key_of("EdDSA", clock)
    assert (
        refusal(believing(ours, world=world), signed(theirs, claims_at(clock), kid=ours.kid))
        == "TOKEN_INVALID"
    )


def test_a_key_the_token_brings_along_is_not_used(clock: Clock, world: World) -> None:
    ours, theirs = key_of("EdDSA", clock), key_of("EdDSA", clock)
    for headers in (
        {"jwk": dict(theirs.jwk)},
        {"jwk": dict(theirs.jwk), "kid": ours.kid},
        {"jku": "http://x"},
    ):
        assert (
            refusal(believing(ours, world=world), signed(theirs, claims_at(clock), **headers))
            == "TOKEN_INVALID"
        )


def test_a_changed_token_is_refused(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    head, _, signature = signed(key, claims_at(clock)).split(".")
    other = unsigned({}, claims_at(clock, sub="anna")).split(".")[1]
    assert refusal(believing(key, world=world), f"{head}.{other}.{signature}") == "TOKEN_INVALID"


@pytest.mark.parametrize("typ", ["logout+jwt", "secevent+jwt", "dpop+jwt", 7])
def test_another_kind_of_signed_thing_is_no_login(clock: Clock, world: World, typ: object) -> None:
    key = key_of("EdDSA", clock)
    token = signed(key, claims_at(clock), typ=typ)
    assert refusal(believing(key, world=world), token) == "TOKEN_INVALID"


def test_an_access_token_by_rfc_9068_is_a_login(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    assert believing(key, world=world).verify(signed(key, claims_at(clock), typ="at+jwt")).subject == "sam"


def test_a_token_that_demands_what_we_do_not_know_is_refused(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    token = signed(key, claims_at(clock), crit=["exp"], exp=1)
    assert refusal(believing(key, world=world), token) == "TOKEN_INVALID"


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", "a.b.c", "....", "é.é.é", "\ud800.x.y", "x" * 20_000, "e30.e30.", "W10.e30.AA"]
)
def test_what_is_no_token_at_all_is_refused(clock: Clock, world: World, token: str) -> None:
    assert refusal(believing(key_of("EdDSA", clock), world=world), token) == "TOKEN_INVALID"


def test_a_header_nested_too_deeply_is_refused(clock: Clock, world: World) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 9000).rstrip(b"=").decode()
    assert refusal(believing(key_of("EdDSA", clock), world=world), f"{deep}.e30.AA") == "TOKEN_INVALID"


def test_roles_are_found_where_the_provider_keeps_them(clock: Clock, world: World) -> None:
    key = key_of("EdDSA", clock)
    token = signed(
        key, claims_at(clock, realm={"roles": ["a"]}, roles="b c", **{"https://x.example/r": ["d"]})
    )
    found = [
        believing(key, world=world, roles_claim=path).verify(token).roles
        for path in (("realm", "roles"), ("roles",), ("https://x.example/r",), ("sub", "roles"), ("none",))
    ]
    assert found == [{"a"}, {"b", "c"}, {"d"}, set(), set()]


def test_a_cognito_access_token_names_its_client_where_others_name_an_audience(
    clock: Clock, world: World
) -> None:
    key = key_of("RS256", clock)
    cognito = believing(key, world=world, is_cognito=True, roles_claim=("cognito:groups",))
    access = claims_at(clock, aud=None, client_id="web", token_use="access", **{"cognito:groups": ["staff"]})
    assert cognito.verify(signed(key, access)).roles == {"staff"}
    assert refusal(cognito, signed(key, access | {"client_id": "other"})) == "TOKEN_FOREIGN"
    assert refusal(cognito, signed(key, access | {"aud": "other"})) == "TOKEN_FOREIGN"
    assert refusal(cognito, signed(key, access | {"token_use": "refresh"})) == "TOKEN_INVALID"
    only_id = replace(cognito, token_uses=frozenset(("id",)))
    assert refusal(only_id, signed(key, access)) == "TOKEN_INVALID"
    assert only_id.verify(signed(key, claims_at(clock, token_use="id"))).subject == "sam"


def test_a_token_without_a_key_id_gets_the_only_key_there_is(clock: Clock, world: World) -> None:
    one, two = key_of("EdDSA", clock), key_of("EdDSA", clock)
    token = jwt.encode(claims_at(clock), one.private, "EdDSA")
    assert believing(one, world=world).verify(token).subject == "sam"
    assert refusal(believing(one, two, world=world), token) == "TOKEN_INVALID"


def test_a_verifier_without_an_audience_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one audience"):
        Verifier.of_oidc(ISSUER, [], world)
    with pytest.raises(ValueError, match="at least one audience"):
        Issuer(tmp_path, ISSUER, world).verifier([])


# --- keys ---


def test_keys_that_check_no_signature_of_ours_are_passed_over(clock: Clock) -> None:
    good = dict(key_of("ES256", clock).jwk)
    weak = generate_private_key(65537, 1024).public_key().public_numbers()
    others: list[Any] = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "a"},
        good | {"use": "enc"},
        good | {"alg": "ES512"},
        good | {"crv": "P-521"},
        good | {"x": "AA"},
        {"kty": "RSA", "kid": "weak", "n": _number(weak.n), "e": "AQAB"},
        {"kty": ["RSA"]},
        {},
        7,
    ]
    assert [key.kid for key in read_jwks({"keys": [*others, good]})] == [good["kid"]]


def _number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes(256, "big").lstrip(b"\0")).rstrip(b"=").decode()


def test_a_private_key_in_a_jwks_is_read_as_its_public_half(clock: Clock) -> None:
    key = key_of("EdDSA", clock)
    found = read_jwks({"keys": [dict(key.jwk) | {"d": "AAAA"}]})
    assert isinstance(found[0], PublicKey)
    assert not hasattr(found[0].key, "sign")
