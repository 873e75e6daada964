from tablewright.expressions import Placeholders, condition, paths_in, top_level_names, touched, update
from tablewright.values import Value

VALUES: dict[str, Value] = {":v": {"N": "1"}, ":l": {"L": []}}


def test_top_level_names_are_distinct_and_in_order_of_appearance() -> None:
    given = Placeholders({"#z": "z.1"}, VALUES)
    node = condition(
        "m.x = :v AND (NOT contains(#z, b) OR size(a) IN (m.y, :v) OR c BETWEEN a AND d)", "It", given
    )
    assert top_level_names(node) == ("m", "z.1", "b", "a", "c", "d")
    assert top_level_names([("b", 0), ("a",), ("b", 1)]) == ("b", "a")
    assert top_level_names(()) == ()


def test_an_update_is_about_what_it_reads_and_what_it_writes() -> None:
    change = update(
        "REMOVE a SET b.x = if_not_exists(c, :v) + d, e = list_append(f[0], :l)", Placeholders(None, VALUES)
    )
    assert top_level_names(change) == ("a", "b", "c", "d", "e", "f")
    assert top_level_names(touched(change)) == ("a", "b", "e")


def test_paths_in_keeps_every_path_whole() -> None:
    assert paths_in(condition("a.b[0] = a.c", "It", Placeholders(None, None))) == (("a", "b", 0), ("a", "c"))
