"""How commands print: columns, sizes, counts, moments; and nothing that was stored moves a reader's cursor."""

from __future__ import annotations

import pytest

from tablewright.cli.format import as_line, as_pairs, as_table, count, moment, plural, size
from tablewright.cli.progress import Progress, wait_for


def test_columns_are_as_wide_as_needed_and_figures_stand_to_the_right() -> None:
    text = as_table(("name", "items"), [["pets", "3"], ["a longer one", "12 000"]])
    assert text.splitlines() == ["name           items", "pets               3", "a longer one  12 000"]


def test_what_does_not_print_is_shown_escaped() -> None:
    assert "\x1b" not in as_table(("name",), [["\x1b[2Jpets"]])
    assert as_line({"k": "a\x9bb\u202ec"}) == '{"k":"a\\x9bb\\u202ec"}'
    assert as_pairs([("tag", "é\n")]) == "tag  é\\n"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KB"), (25_780, "25.2 KB"), (1_048_500, "1 MB"), (123_456_789, "118 MB"),
     (5e15, "4547 TB")],
)  # fmt: skip
def test_a_size_has_three_figures_and_a_unit_of_1024(number: float, words: str) -> None:
    assert size(number) == words


def test_counts_and_things_read_as_one_would_say_them() -> None:
    assert (count(1234567), plural(1, "key"), plural(2, "key"), plural(3, "copy")) == (
        "1 234 567",
        "1 key",
        "2 keys",
        "3 copies",
    )
    assert (moment(0), moment(None)) == ("1970-01-01 00:00:00 UTC", "-")


def test_waiting_looks_again_until_the_work_is_over_and_tells_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen, naps = iter([0, 5, 10, 11]), list[float]()
    last = wait_for("copying", lambda: next(seen), lambda n: Progress(n > 10, n, 10), naps.append)
    assert last == 11
    assert naps == sorted(naps)
    assert len(naps) == 3
    err = capsys.readouterr().err
    assert err.startswith("copying: 0 %")
    assert err.count("100 %") == 1


def test_waiting_for_what_tells_nothing_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    seen = iter(range(40))
    wait_for("copying", lambda: next(seen), lambda n: Progress(n == 30), lambda pause: None)
    assert capsys.readouterr().err == "copying: in progress\n"


def test_ctrl_c_ends_the_waiting_and_says_that_the_work_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(pause: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_for("copying", lambda: 1, lambda n: Progress(False), interrupted)
    assert "copying is not finished; it continues whenever its store is open" in capsys.readouterr().err
