"""What downloads are called."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tablewright.edge.downloads import attachment

DAY = datetime(2026, 11, 17, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("Mia", 'attachment; filename="parental-mia-2026-11-17.json"'),
        (
            "Zoë",
            "attachment; filename=\"parental-zoe-2026-11-17.json\"; filename*=UTF-8''parental-zo%C3%AB-2026-11-17.json",
        ),
        ('a"b\r\nX: y', 'attachment; filename="parental-a-b-x-y-2026-11-17.json"'),
        ("../../etc", 'attachment; filename="parental-etc-2026-11-17.json"'),
        ("anna@example.com", 'attachment; filename="parental-anna-example.com-2026-11-17.json"'),
        ("", 'attachment; filename="parental-2026-11-17.json"'),
    ],
)
def test_a_download_has_a_name_of_ascii_and_the_letters_of_the_name_beside_it(
    subject: str, said: str
) -> None:
    assert attachment("parental", subject, DAY, "json") == {"Content-Disposition": said}


def test_a_name_of_other_letters_only_is_in_the_second_name() -> None:
    said = attachment("parental", "美", DAY, "json")["Content-Disposition"]
    assert said.startswith('attachment; filename="parental-2026-11-17.json"; filename*=UTF-8')
    assert said.isascii()
