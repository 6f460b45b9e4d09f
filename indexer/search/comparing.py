"""One condition of a filter: a field, an operator and a value, as SQL that is true or false and never unknown."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from indexer.errors import FilterRefused
from indexer.search.fields import NULLABLE, Field, Kind
from terminal import did_you_mean

Parameter = str | float
MOST_VALUES = 10_000


@dataclass(frozen=True)
class Clause:
    """An SQL condition with its bound parameters."""

    sql: str
    parameters: tuple[Parameter, ...] = ()


RANGES = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
NEGATIONS = {"ne": "eq", "not_in": "in"}
OPERATORS = ("eq", "ne", "in", "not_in", *RANGES, "prefix", "exists")

IS_NUMBER = "CASE WHEN json_valid({0}) THEN json_type({0}) IN ('integer', 'real') ELSE 0 END"
"""Metadata are texts; those written like a JSON number count as numbers. CASE keeps the order of evaluation."""


def compare(field: Field, operator: str, operand: object) -> Clause:
    """Return the condition.

    Raises:
        FilterRefused: there is no such operator, or the value is none that the field can be compared with.
    """
    if operator not in OPERATORS:
        raise FilterRefused(
            f"The filter uses the operator {operator!r} on {field.name!r}, which there is not."
            f"{did_you_mean(operator, OPERATORS)} Known: {', '.join(OPERATORS)}."
        )
    if operator in NEGATIONS:
        plain = compare(field, NEGATIONS[operator], operand)
        return Clause(f"NOT {plain.sql}", plain.parameters)
    if operator == "exists":
        return _exists(field, operand)
    predicate = _predicate(field, operator, operand)
    if field.key is not None:
        return _of_key(field, predicate)
    if field.name in NULLABLE:
        return Clause(f"coalesce({predicate.sql}, 0)", predicate.parameters)
    return predicate


def _exists(field: Field, operand: object) -> Clause:
    if not isinstance(operand, bool):
        raise _wrong(field, "exists", operand, "true or false")
    there = Clause(f"({field.column} IS NOT NULL)")
    if field.key is not None:
        there = _of_key(field, there)
    return there if operand else Clause(f"NOT {there.sql}", there.parameters)


def _of_key(field: Field, predicate: Clause) -> Clause:
    """Return whether the metadata have the field's key with such a value."""
    return Clause(
        f"(v.key IN (SELECT m.version FROM metadata m WHERE m.key = ? AND {predicate.sql}))",
        (_text(field, field.key), *predicate.parameters),
    )


def _predicate(field: Field, operator: str, operand: object) -> Clause:
    column = field.column
    if operator == "prefix":
        if field.kind not in ("text", "metadata"):
            raise FilterRefused(f"'prefix' works on texts, and {field.name!r} is none.")
        start = _text(field, operand)
        return Clause(f"(substr({column}, 1, length(?)) = ?)", (start, start))
    if operator == "in":
        return _one_of(field, operand)
    if field.kind == "metadata":
        return _metadata(field, RANGES.get(operator, "="), operand)
    return Clause(f"({column} {RANGES.get(operator, '=')} ?)", (VALUES[field.kind](field, operand),))


def _one_of(field: Field, operand: object) -> Clause:
    if not isinstance(operand, Sequence) or isinstance(operand, str):
        raise _wrong(field, "in", operand, "a list of values")
    if len(operand) > MOST_VALUES:
        raise FilterRefused(f"'in' takes up to {MOST_VALUES:,} values; there are {len(operand):,}.")
    if field.kind != "metadata":
        values = [VALUES[field.kind](field, each) for each in operand]
        return Clause(f"({field.column} IN (SELECT value FROM json_each(?)))", (json.dumps(values),))
    texts = [each for each in operand if not _is_number(each)]
    numbers = [_number(field, each) for each in operand if _is_number(each)]
    return Clause(
        f"({field.column} IN (SELECT value FROM json_each(?)) OR ({IS_NUMBER.format(field.column)}"
        f" AND CAST({field.column} AS REAL) IN (SELECT value FROM json_each(?))))",
        (json.dumps([_text(field, each) for each in texts]), json.dumps(numbers)),
    )


def _metadata(field: Field, sign: str, operand: object) -> Clause:
    """Compare as numbers where both are, as texts where neither is; a number and another text never compare."""
    as_number = f"({IS_NUMBER.format(field.column)} AND CAST({field.column} AS REAL) {sign} ?)"
    if _is_number(operand):
        return Clause(as_number, (_number(field, operand),))
    text = _text(field, operand)
    if sign == "=":
        return Clause(f"({field.column} = ?)", (text,))
    number = _as_json_number(text)
    if number is not None:
        return Clause(as_number, (number,))
    return Clause(f"(NOT {IS_NUMBER.format(field.column)} AND {field.column} {sign} ?)", (text,))


def _text(field: Field, value: object) -> str:
    if isinstance(value, bool) and field.kind == "metadata":
        return "true" if value else "false"
    if not isinstance(value, str):
        raise _wrong(field, "", value, "a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _wrong(field, "", value, "a text that is valid Unicode") from error
    return value


def _number(field: Field, value: object) -> float:
    try:
        number = float(value) if _is_number(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(field, "", value, "a number")
    return number


def _date(field: Field, value: object) -> str:
    try:
        return (value if type(value) is date else date.fromisoformat(str(value))).isoformat()
    except ValueError as error:
        raise _wrong(field, "", value, "a date such as 2025-12-31") from error


def _time(field: Field, value: object) -> str:
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        utc = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise _wrong(field, "", value, "a time such as 2025-12-31 or 2025-12-31T18:00:00 (UTC)") from error
    return utc.isoformat(timespec="seconds")


VALUES: dict[Kind, Callable[[Field, object], Parameter]] = {
    "text": _text,
    "integer": _number,
    "date": _date,
    "time": _time,
}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_json_number(text: str) -> float | None:
    """Return the number that a text is to JSON, as `IS_NUMBER` sees it, or None."""
    try:
        value = json.loads(text, parse_constant=str)
        return float(value) if _is_number(value) else None
    except (ValueError, OverflowError, RecursionError):
        return None


def _wrong(field: Field, operator: str, value: object, wanted: str) -> FilterRefused:
    of = f" of {operator!r}" if operator else ""
    return FilterRefused(f"The filter compares {field.name!r} with {value!r}; the value{of} must be {wanted}.")
