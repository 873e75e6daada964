import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st
from tests.expressions.strategies import NAMES, paths

from tablewright.expressions import BadExpression, Path
from tablewright.expressions.paths import find, refuse_clashes, spelled
from tablewright.values import Item

ITEM: Item = {"m": {"M": {"l": {"L": [{"N": "1"}, {"M": {"x": {"S": "deep"}}}]}}}, "s": {"S": "L"}}


def test_a_path_leads_through_maps_and_lists() -> None:
    assert find(("s",), ITEM) == {"S": "L"}
    assert find(("m", "l", 1, "x"), ITEM) == {"S": "deep"}


@pytest.mark.parametrize(
    "path",
    [("x",), ("m", "x"), ("m", 0), ("m", "l", 2), ("m", "l", "x"), ("s", "L"), ("s", 0), ("x", "y", 0)],
)
def test_a_path_through_what_is_not_there_leads_nowhere(path: Path) -> None:
    assert find(path, ITEM) is None


def test_a_path_is_spelled_as_in_the_messages_of_the_service() -> None:
    assert spelled(("m", "l", 1, "x")) == "[m, l, [1], x]"


def test_an_overlap_is_named_before_a_conflict_wherever_they_stand() -> None:
    with pytest.raises(
        BadExpression, match=r"overlap with each other; .* path one: \[c, \[1\], a\], path two: \[c\]"
    ):
        refuse_clashes([("d", 1), ("d", "b"), ("c", 1, "a"), ("c",)])


def test_the_first_of_two_conflicts_is_named() -> None:
    with pytest.raises(
        BadExpression, match=r"conflict with each other; .* path one: \[d, \[1\]\], path two: \[d, b\]"
    ):
        refuse_clashes([("d", 1), ("d", "b"), ("e", "x"), ("e", 0)])


def test_paths_that_part_company_do_not_clash() -> None:
    refuse_clashes([("a",), ("b", "x"), ("b", "y", 0), ("b", "y", 1), ("c", 0, "x"), ("c", 1, 0)])


@for_any(st.lists(paths(*NAMES), max_size=5))
def test_paths_clash_exactly_when_two_of_them_do(all_paths: list[Path]) -> None:
    def clash(one: Path, other: Path) -> bool:
        length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
        return length is None or type(one[length]) is not type(other[length])

    clashes = any(clash(one, other) for n, one in enumerate(all_paths) for other in all_paths[:n])
    if clashes:
        with pytest.raises(BadExpression):
            refuse_clashes(all_paths)
    else:
        refuse_clashes(all_paths)
