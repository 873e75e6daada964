"""A key for each person: what opens with which, what a destroyed key leaves, two processes at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tablewright.kit.keyring import keyring_of
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.sealed_text import SealBroken
from tablewright.kit.subject_keys import KeyDestroyed, SubjectKeys
from tablewright.testing import Clock

SECRET = b"a secret of at least thirty-two bytes"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def objects() -> InMemory:
    return InMemory()


def opened(objects: InMemory, clock: Clock, secret: bytes = SECRET) -> SubjectKeys:
    """The keys, as another process would open them."""
    world = clock.world()
    return SubjectKeys(objects, keyring_of("zoo", secret, world=world), world)


@pytest.fixture
def keys(objects: InMemory, clock: Clock) -> SubjectKeys:
    return opened(objects, clock)


def test_a_text_opens_for_the_subject_and_attribute_it_was_sealed_for(keys: SubjectKeys) -> None:
    sealed = keys.seal("mia", "message/1", "I like pandas")
    assert keys.open("mia", "message/1", sealed) == "I like pandas"
    assert "panda" not in sealed
    keys.seal("leo", "message/1", "I like lions")
    for subject, attribute in (("mia", "message/2"), ("leo", "message/1"), ("sam", "message/1")):
        with pytest.raises(SealBroken):
            keys.open(subject, attribute, sealed)


def test_bytes_are_sealed_as_texts_are(keys: SubjectKeys) -> None:
    sealed = keys.seal_bytes("mia", "object", b"\x00pandas")
    assert keys.open_bytes("mia", "object", sealed) == b"\x00pandas"
    with pytest.raises(SealBroken):
        keys.open_bytes("mia", "another", sealed)


def test_a_beacon_is_the_same_for_one_subject_and_attribute_alone(keys: SubjectKeys) -> None:
    beacon = keys.beacon("mia", "memory", "panda")
    assert keys.beacon("mia", "memory", "panda") == beacon
    others = {
        keys.beacon("mia", "memory", "lion"),
        keys.beacon("leo", "memory", "panda"),
        keys.beacon("mia", "context", "panda"),
    }
    assert beacon not in others


def test_another_process_opens_what_this_one_sealed(
    keys: SubjectKeys, objects: InMemory, clock: Clock
) -> None:
    sealed = keys.seal("mia", "message/1", "hello")
    assert opened(objects, clock).open("mia", "message/1", sealed) == "hello"
    with pytest.raises(SealBroken):
        opened(objects, clock, b"another secret of thirty-two bytes!").open("mia", "message/1", sealed)


def test_the_store_has_neither_a_name_nor_a_key_that_can_be_read(
    keys: SubjectKeys, objects: InMemory
) -> None:
    keys.seal("mia", "message/1", "hello")
    (name,) = objects.names("")
    assert "mia" not in name


def test_after_a_key_is_destroyed_nothing_is_read_or_written(keys: SubjectKeys, objects: InMemory) -> None:
    sealed = keys.seal("mia", "message/1", "hello")
    keys.destroy("mia")
    keys.destroy("mia")
    assert keys.is_destroyed("mia")
    with pytest.raises(KeyDestroyed):
        keys.open("mia", "message/1", sealed)
    with pytest.raises(KeyDestroyed):
        keys.seal("mia", "message/2", "again")
    with pytest.raises(KeyDestroyed):
        keys.beacon("mia", "memory", "panda")
    assert [name for name in objects.names("") if "destroyed" not in name] == []


def test_another_process_stops_using_a_destroyed_key_within_a_minute(
    keys: SubjectKeys, objects: InMemory, clock: Clock
) -> None:
    other = opened(objects, clock)
    other.seal("mia", "message/1", "hello")
    keys.destroy("mia")
    clock.move(timedelta(minutes=1))
    with pytest.raises(KeyDestroyed):
        other.seal("mia", "message/2", "again")


def test_two_processes_that_make_the_first_key_at_once_use_one(
    objects: InMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = opened(objects, clock), opened(objects, clock)
    put_new, sealed = InMemory.put_new, list[str]()

    def put_later(self: InMemory, name: str, content: bytes) -> bool:
        """The other process is faster."""
        monkeypatch.undo()
        sealed.append(two.seal("mia", "message/1", "hello two"))
        return put_new(self, name, content)

    monkeypatch.setattr(InMemory, "put_new", put_later)
    sealed.append(one.seal("mia", "message/1", "hello one"))
    assert len(list(objects.names(""))) == 1
    found = [keys.open("mia", "message/1", text) for keys in (one, two) for text in sealed]
    assert found == ["hello two", "hello one"] * 2
    assert one.beacon("mia", "memory", "panda") == two.beacon("mia", "memory", "panda")


def test_a_key_that_another_process_has_added_is_found_at_once(
    keys: SubjectKeys, objects: InMemory, clock: Clock
) -> None:
    keys.seal("mia", "message/1", "hello")
    other = InMemory()
    _, _, rest = opened(other, clock).seal("mia", "message/2", "hello again").partition(".")
    (name,) = other.names("")
    objects.put(f"{name.rpartition('/')[0]}/7", other.get(name) or b"")
    assert keys.open("mia", "message/2", f"7.{rest}") == "hello again"


def test_a_key_that_is_made_while_keys_are_destroyed_is_removed_too(
    objects: InMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, other = opened(objects, clock), opened(objects, clock)
    put_new = InMemory.put_new

    def put_then_destroy(self: InMemory, name: str, content: bytes) -> bool:
        is_stored = put_new(self, name, content)
        monkeypatch.undo()
        other.destroy("mia")
        return is_stored

    monkeypatch.setattr(InMemory, "put_new", put_then_destroy)
    with pytest.raises(KeyDestroyed):
        keys.seal("mia", "message/1", "hello")
    assert [name for name in objects.names("") if "destroyed" not in name] == []
