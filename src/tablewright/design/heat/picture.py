"""The outcome of a simulation as an SVG picture: a row for each key, time from left to right. Pure.

A cell is grey where all requests were served, and the redder the more of them were throttled; its title has the
figures. On a dark screen the ground is dark.
Must hold: the picture is well-formed XML whatever a template contains; colour is never the only sign: each row ends
with its share in figures.
"""

from html import escape

from tablewright.design.heat.outcomes import Heat, Outcome
from tablewright.design.heat.simulation import BUCKETS

_ROWS = 30
_CELL, _HEIGHT, _LEFT, _RIGHT, _TOP = 9, 20, 420, 110, 46
_FONT = 'font-family="ui-monospace, monospace" font-size="12"'
_STYLE = """text { fill: #1b2026; } .ground { fill: #ffffff; } .served { fill: #e5e7eb; }
@media screen and (prefers-color-scheme: dark) {
text { fill: #e7eaed; } .ground { fill: #14171a; } .served { fill: #2b3137; }
}"""


def heat_picture(heat: Heat) -> str:
    """The hottest keys, at most 30."""
    shown = heat.outcomes[:_ROWS]
    width = _LEFT + BUCKETS * _CELL + _RIGHT
    height = _TOP + len(shown) * _HEIGHT + 34
    title = f"{heat.design} at {heat.times:.6g} times its load, {heat.seconds} seconds"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" {_FONT}>',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" class="ground"/>',
        f'<text x="10" y="24" font-size="14">{escape(title)}: share of requests that are throttled</text>',
    ]
    for row, outcome in enumerate(shown):
        lines += _row(outcome, _TOP + row * _HEIGHT, heat.seconds)
    bottom = _TOP + len(shown) * _HEIGHT + 18
    lines.append(f'<text x="{_LEFT}" y="{bottom}">0 s</text>')
    lines.append(
        f'<text x="{_LEFT + BUCKETS * _CELL}" y="{bottom}" text-anchor="end">{heat.seconds} s</text>'
    )
    return "\n".join([*lines, "</svg>", ""])


def _row(outcome: Outcome, top: int, seconds: int) -> list[str]:
    load = outcome.load
    place = f"{load.table}.{load.index}" if load.index else load.table
    name = f"{place} {load.key} ({load.kind}s)"
    short = name if len(name) <= 56 else f"{name[:55]}…"
    middle = top + _HEIGHT - 6
    lines = [f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{escape(short)}</text>']
    for column, (requests, throttled) in enumerate(outcome.tally.by_time):
        share = throttled / requests if requests else 0.0
        begin, end = column * seconds // BUCKETS, (column + 1) * seconds // BUCKETS
        words = f"{name}, seconds {begin} to {end}: {100 * share:.1f} % of {requests:.0f} requests throttled"
        lines.append(
            f'<rect x="{_LEFT + column * _CELL}" y="{top}" width="{_CELL - 1}" height="{_HEIGHT - 2}" '
            f"{_fill(share)}><title>{escape(words)}</title></rect>"
        )
    share_x = _LEFT + BUCKETS * _CELL + 8
    return [*lines, f'<text x="{share_x}" y="{middle}">{100 * outcome.share:.1f} %</text>']


def _fill(share: float) -> str:
    if not share:
        return 'class="served"'
    return f'fill="#d12424" fill-opacity="{0.25 + 0.75 * min(1.0, share):.2f}"'
