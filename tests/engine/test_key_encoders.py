"""The encoder of each table and index: two texts have one of their own, which must make the same bytes."""

from zlib import crc32

import pytest

from tablewright.engine.key_encoders import KeyPart, key_encoder
from tablewright.values import Item, Value, key_part

PK, SK = KeyPart("pk", "S", 2048), KeyPart("sk", "S", 1024)


@pytest.mark.parametrize("pk", ["a", "é", "\U0001f600" * 512, "x" * 2048, "\0", "a\0b", "a\0\xffb"])
@pytest.mark.parametrize("sk", ["b", "ü" * 512, "\0\0", "x" * 1024])
def test_two_texts_are_a_hash_of_the_first_and_both_parts(pk: str, sk: str) -> None:
    item: Item = {"pk": {"S": pk}, "sk": {"S": sk}, "other": {"N": "1"}}
    first, second = key_part(item["pk"]), key_part(item["sk"])
    assert key_encoder([PK], [SK])(item) == (crc32(first) >> 1).to_bytes(4) + first + second


@pytest.mark.parametrize("value", [None, {"S": ""}, {"N": "1"}, {"S": "x" * 2049}, {"S": "é" * 1025}])
def test_a_text_that_is_missing_empty_too_long_or_of_another_type_has_no_key(value: Value | None) -> None:
    encode = key_encoder([PK], [SK])
    for name in ("pk", "sk"):
        item: Item = {"pk": {"S": "a"}, "sk": {"S": "b"}}
        if value is None:
            del item[name]
        else:
            item[name] = value
        assert encode(item) is None


def test_parts_of_other_types_and_numbers_are_joined_in_order() -> None:
    age, colour = KeyPart("age", "N", 1024), KeyPart("colour", "S", 2048)
    item: Item = {"pk": {"S": "a"}, "age": {"N": "3"}, "colour": {"S": "red"}}
    partition = key_part(item["pk"]) + key_part(item["colour"])
    hashed = (crc32(partition) >> 1).to_bytes(4)
    assert key_encoder([PK, colour], [])(item) == hashed + partition
    assert key_encoder([PK, colour], [age])(item) == hashed + partition + key_part(item["age"])
