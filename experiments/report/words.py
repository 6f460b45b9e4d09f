"""Numbers, sums and dates as a reader says them, the same in HTML and in Markdown.

Ratios become per cent, differences become percentage points with a sign, and a figure that is not a number becomes a
dash.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime

import terminal
from experiments.results import Estimate

SPACE = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def percent(value: float, digits: int = 0) -> str:
    """Return a ratio in per cent: 0.714 is `71 %`."""
    return f"{value * 100:.{digits}f}{SPACE}%" if math.isfinite(value) else DASH


def interval(estimate: Estimate, digits: int = 0) -> str:
    """Return the two ends of a ratio's interval in per cent, without the sign: `66–76`."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return DASH
    return f"{estimate.low * 100:.{digits}f}{DASH}{estimate.high * 100:.{digits}f}"


def points(difference: float) -> str:
    """Return a difference of two ratios in percentage points, signed: 0.071 is `+7.1`."""
    if not math.isfinite(difference):
        return DASH
    rounded = round(difference * 100, 1)
    sign = MINUS if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded):.1f}"


def probability(p: float) -> str:
    """Return a p-value to three digits, never as 0."""
    if not math.isfinite(p):
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def count(number: float) -> str:
    """Return a whole number with its thousands set apart: `12,300`."""
    return f"{number:,.0f}" if math.isfinite(number) else DASH


def quantity(number: float, singular: str) -> str:
    """Return a counted noun: `1 passage`, `2 passages`."""
    return f"{count(number)} {singular}" if number == 1 else f"{count(number)} {singular}s"


def amount(number: float) -> str:
    """Return a sum without its currency: whole above 100, cents above 1, two significant digits below."""
    if not math.isfinite(number):
        return DASH
    if number == 0 or abs(number) >= 100:
        return f"{number:,.0f}"
    if abs(number) >= 1:
        return f"{number:,.2f}"
    return f"{number:.{1 - math.floor(math.log10(abs(number)))}f}"


def money(number: float, currency: str) -> str:
    """Return a sum with its currency: `USD 0.011`."""
    return f"{currency}{SPACE}{amount(number)}" if math.isfinite(number) else DASH


def round_number(number: float) -> str:
    """Return a number that is round already, such as one written along an axis: `0.002`, `0.5`, `20,000`."""
    return f"{number:,.10f}".rstrip("0").rstrip(".")


def machine_time(seconds: float) -> str:
    """Return machine time: `0.4 s`, `41 s`, `6 min 48 s`."""
    if not math.isfinite(seconds):
        return DASH
    shown = terminal.duration(seconds) if seconds >= 10 or seconds == 0 else f"{seconds:.1f} s"
    return shown.replace(" ", SPACE)


def milliseconds(value: float) -> str:
    """Return a latency: `84 ms`, and from 1,000 on `1.3 s`."""
    if not math.isfinite(value):
        return DASH
    return f"{value / 1000:.1f}{SPACE}s" if value >= 1000 else f"{value:.0f}{SPACE}ms"


def gibibytes(number: float) -> str:
    """Return a size in memory: `1.4 GiB`."""
    return f"{number / 2**30:.1f}{SPACE}GiB"


def day(moment: str) -> str:
    """Return the date of an ISO 8601 moment as `29 November 2026`; what is no such moment stays as it is."""
    try:
        when: date = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{when.day} {when:%B %Y}"


def enumeration(items: list[str]) -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def visible(text: str) -> str:
    """Return the text with control characters replaced, since neither XML nor a reader can do anything with them."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def bar(ratio: float, cells: int = 20) -> str:
    """Return a ratio as a bar of block characters, `█████░░░░░`: a chart in plain text."""
    filled = max(0, min(cells, round(ratio * cells)))
    return "█" * filled + "░" * (cells - filled)
