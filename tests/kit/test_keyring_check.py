"""Secrets that are not those the data was written with are noticed before anybody is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.kit.keyring import KeyRing, keyring_of
from tablewright.kit.keyring_check import (
    SecretIsMissing,
    SecretsAreOthers,
    check_secrets,
    checked_keyring,
)
from tablewright.kit.objects.memory import InMemory
from tablewright.world import real_world

PLACE = Path("secrets")
FIRST, SECOND, OTHER = b"a" * 32, b"b" * 32, b"c" * 32


def _ring(*secrets: bytes) -> KeyRing:
    return keyring_of("shop", *secrets, world=real_world())


def test_the_same_secrets_and_further_ones_are_fine() -> None:
    objects = InMemory()
    for ring in (_ring(FIRST), _ring(FIRST), _ring(FIRST, SECOND), _ring(FIRST, SECOND)):
        check_secrets(ring, PLACE, objects)
    assert list(objects.names("secret-checks/")) == ["secret-checks/000001", "secret-checks/000002"]


def test_an_older_secret_may_have_been_dropped() -> None:
    objects = InMemory()
    check_secrets(_ring(FIRST, SECOND), PLACE, objects)
    check_secrets(KeyRing("shop", lambda: {2: SECOND}, real_world()), PLACE, objects)


def test_secrets_made_anew_are_refused_and_so_are_those_from_before_the_newest() -> None:
    objects = InMemory()
    check_secrets(_ring(FIRST, SECOND), PLACE, objects)
    for ring, number in ((_ring(OTHER), 2), (_ring(FIRST), 2), (_ring(OTHER, SECOND), 1)):
        with pytest.raises(SecretsAreOthers, match=f"00000{number}.secret"):
            check_secrets(ring, PLACE, objects)


def test_a_secret_that_is_missing_is_not_called_another() -> None:
    objects = InMemory()
    check_secrets(_ring(FIRST, SECOND), PLACE, objects)
    with pytest.raises(SecretIsMissing, match=r"000002\.secret is missing"):
        check_secrets(_ring(FIRST), PLACE, objects)
    with pytest.raises(SecretsAreOthers, match=r"000002\.secret is not the one"):
        check_secrets(_ring(FIRST, OTHER), PLACE, objects)


def test_a_first_secret_is_made_only_where_none_was_ever_used(tmp_path: Path) -> None:
    objects = InMemory()
    checked_keyring("shop", tmp_path / "secrets", objects, real_world())
    checked_keyring("shop", tmp_path / "secrets", objects, real_world())
    (tmp_path / "secrets").rename(tmp_path / "kept apart")
    with pytest.raises(SecretIsMissing):
        checked_keyring("shop", tmp_path / "secrets", objects, real_world())
    assert not (tmp_path / "secrets").exists()
    (tmp_path / "kept apart").rename(tmp_path / "secrets")
    checked_keyring("shop", tmp_path / "secrets", objects, real_world())


def test_what_is_no_check_is_passed_over_and_a_damaged_one_is_refused() -> None:
    objects = InMemory()
    check_secrets(_ring(FIRST), PLACE, objects)
    objects.put("secret-checks/000001.bak", b"")
    check_secrets(_ring(FIRST), PLACE, objects)
    objects.put("secret-checks/000001", b"\xff")
    with pytest.raises(SecretsAreOthers):
        check_secrets(_ring(FIRST), PLACE, objects)


def test_a_check_does_not_tell_its_secret() -> None:
    objects = InMemory()
    check_secrets(_ring(FIRST), PLACE, objects)
    assert FIRST not in (objects.get("secret-checks/000001") or b"")
