"""`tablewright copy verify SOURCE TARGET`: counts and digests of tables and their copies."""

import argparse
from collections.abc import Sequence
from typing import Any

from tablewright.cli.argument_types import whole_number
from tablewright.cli.copy.places import Copying, add_place_arguments, with_copy
from tablewright.cli.format import as_line, as_table, count
from tablewright.cli.output import print_result
from tablewright.mapping.copy import Verified, verify_pair

EXAMPLES = """Both sides are read in full; writes to the source while it runs show up as differences. Items that expire
within the hour are left out. The exit code is 1 if a table differs.

tablewright copy verify ./data ./other --tables pets
tablewright copy verify http://127.0.0.1:8000 amazon:eu-central-1 --system travel --environment prod"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_place_arguments(parser)
    parser.add_argument(
        "--parallel",
        type=whole_number("a number from 1 to 64", 1, 64),
        default=4,
        metavar="N",
        help="read so many segments of a table at once (default: %(default)s)",
    )


@with_copy
def run(given: argparse.Namespace, copying: Copying) -> int:
    found = [verify_pair(copying.context, pair, segments=given.parallel) for pair in copying.pairs]
    print_result(given, as_value(found), as_text(found))
    return 0 if all(one.is_equal for one in found) else 1


def as_value(found: Sequence[Verified]) -> list[dict[str, Any]]:
    return [
        {
            "source": one.pair.source,
            "target": one.pair.target,
            "is_equal": one.is_equal,
            "items": {"source": one.source.items, "target": one.target.items},
            "digest": {"source": one.source.text, "target": one.target.text},
            "different": [
                {"what": each.kind, "key": each.key, "attributes": each.attributes} for each in one.different
            ],
        }
        for one in found
    ]


def as_text(found: Sequence[Verified]) -> str:
    rows = [
        [
            one.pair.source,
            one.pair.target,
            count(one.source.items),
            count(one.target.items),
            one.source.text[:16],
            "equal" if one.is_equal else f"differs ({one.target.text[:16]})",
        ]
        for one in found
    ]
    lines = [as_table(["source", "target", "items", "copied", "digest", "result"], rows)]
    for one in found:
        lines += [f"{one.pair.target}: {each.kind} {as_line(each.key)}" for each in one.different]
    return "\n".join(lines)
