from tablewright.expressions.reserved import RESERVED, is_reserved


def test_there_are_573_reserved_words() -> None:
    assert len(RESERVED) == 573


def test_they_are_reserved_in_any_case() -> None:
    assert is_reserved("status")
    assert is_reserved("StAtUs")
    assert is_reserved("SIZE")
    assert is_reserved("convert")
    assert not is_reserved("statuses")
