"""Progress in numbers and in a terminal."""

import io

import pytest

from tablewright.app.progress import ProgressSnapshot
from tablewright.cli.progress import Terminal
from tablewright.english import duration


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.4, "under a second"), (59, "59 s"), (200, "3 min 20 s"), (1500, "25 min"), (7500, "2 h 5 min"),
     (7200, "2 h")],
)  # fmt: skip
def test_a_duration_is_as_exact_as_it_matters(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_without_a_total_there_is_no_percent_and_no_time_left() -> None:
    progress = ProgressSnapshot(10, None, 2.0)
    assert (progress.percent, progress.rate, progress.seconds_left) == (None, 5.0, None)


def test_more_than_everything_is_everything() -> None:
    assert ProgressSnapshot(12, 10, 1.0).percent == 100
    assert ProgressSnapshot(0, 0, 0.0).percent == 100


def test_a_file_gets_plain_lines_and_few_of_them() -> None:
    now = [0.0]
    stream = io.StringIO()
    told = Terminal(stream, prefix="seeding ", clock=lambda: now[0])
    for done in range(1, 101):
        now[0] += 0.1
        told(done, 100, "books")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "seeding books: 1 %"
    assert lines[-1] == "seeding books: 100 %, 10/s"
    assert 4 <= len(lines) <= 8
    assert any("s left" in line for line in lines)


def test_a_terminal_gets_one_line_that_is_rewritten() -> None:
    screen = Screen()
    told = Terminal(screen, clock=lambda: 0.0)
    told(1, 2, "books")
    told(2, 2, "books")
    told.end()
    assert screen.getvalue().count("\n") == 1
    assert screen.getvalue().count("\r") == 2


def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else() -> None:
    screen, file = Screen(), io.StringIO()
    for stream in (screen, file):
        told = Terminal(stream, has_bar=True, clock=lambda: 0.0)
        told(1, None, "books")
        told(6, 12, "pages")
        told.end()
    assert "[############............] pages: 50 %" in screen.getvalue()
    assert "[" not in screen.getvalue().partition("books: 1 so far")[0].replace("\x1b[K", "")
    assert file.getvalue() == "books: 1 so far\npages: 50 %\n"
