"""The funnel over time as an SVG file: a panel a reading, a line a stage, its 95 % interval behind it.

Invariant: only numbers, stage names and the title get into the file, and texts are escaped. Windows without
candidates are gaps, not zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import cycle, groupby

from cluster.inspect.funnel import READINGS, Window
from envpool.admission.passing import STAGES, Share

WIDTH, HEIGHT = 900, 340  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 60, 150, 50, 50
MOST_WORDS = 10  # below the axis
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#7f7f7f", "#000000", "#8c6d31")
"""Okabe and Ito's, which the colour-blind tell apart, and two more."""


def svg(found: Sequence[Window], title: str) -> str:
    """The whole file as text."""
    height = 40 + HEIGHT * len(READINGS)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' "
        "font-family='sans-serif' font-size='13'>",
        f"<rect width='{WIDTH}' height='{height}' fill='white'/>",
        f"<text x='{LEFT}' y='28' font-size='16'>{escape(title)}</text>",
    ]
    for place, (name, reading) in enumerate(READINGS.items()):
        rows = [reading(window.passing) for window in found]
        parts += [f"<g transform='translate(0 {30 + HEIGHT * place})'>", *_axes(found, name)]
        for stage, colour in zip(STAGES, cycle(COLOURS), strict=False):
            parts += _curve([row[stage] for row in rows], colour)
        parts += [*_keys(), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes(found: Sequence[Window], name: str) -> Iterator[str]:
    yield f"<text x='{LEFT}' y='{TOP - 14}'>past the gate, {escape(name)}</text>"
    for fifth in range(6):
        y = _y(fifth / 5)
        yield f"<line x1='{LEFT}' y1='{y}' x2='{WIDTH - RIGHT}' y2='{y}' stroke='#dddddd'/>"
        yield f"<text x='{LEFT - 8}' y='{y + 4}' text-anchor='end'>{20 * fifth} %</text>"
    for place in range(0, len(found), -(-len(found) // MOST_WORDS) or 1):
        x = _x(place, len(found))
        yield f"<text x='{x}' y='{HEIGHT - BOTTOM + 18}' text-anchor='middle'>{found[place].steps}</text>"
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f"<text x='{middle}' y='{HEIGHT - BOTTOM + 38}' text-anchor='middle'>learner step</text>"


def _curve(shares: Sequence[Share], colour: str) -> Iterator[str]:
    for some, run in groupby(enumerate(shares), key=lambda each: each[1].of > 0):
        if not some:
            continue
        own = [(_x(place, len(shares)), share) for place, share in run]
        low = [(x, _y(share.interval.low)) for x, share in own]
        high = [(x, _y(share.interval.high)) for x, share in own]
        line = [(x, _y(share.rate or 0.0)) for x, share in own]
        yield f"<polygon points='{_points([*high, *reversed(low)])}' fill='{colour}' fill-opacity='0.08'/>"
        yield f"<polyline points='{_points(line)}' fill='none' stroke='{colour}' stroke-width='2'/>"
        yield from (f"<circle cx='{x}' cy='{y}' r='3' fill='{colour}'/>" for x, y in line)


def _keys() -> Iterator[str]:
    left = WIDTH - RIGHT + 20
    for place, (stage, colour) in enumerate(zip(STAGES, cycle(COLOURS), strict=False)):
        y = TOP + 12 + 22 * place
        yield f"<line x1='{left}' y1='{y - 4}' x2='{left + 20}' y2='{y - 4}' stroke='{colour}' stroke-width='3'/>"
        yield f"<text x='{left + 28}' y='{y}'>{escape(stage)}</text>"


def _points(line: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in line)


def _x(place: int, count: int) -> float:
    room = WIDTH - LEFT - RIGHT
    return round(LEFT + (room * place / (count - 1) if count > 1 else room / 2), 1)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)
