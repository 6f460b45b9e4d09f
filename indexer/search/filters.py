"""The filter language: which passages are searched, as JSON, compiled to SQL with bound parameters.

    {"team": "harbour"}                                    a field equals a value
    {"effective": {"gte": "2024-01-01", "lt": "2025-01-01"}}   all of the operators hold
    {"id": {"in": ["a", "b"]}, "authority": {"gte": 2}}    all of the fields hold
    {"or": [{"team": "harbour"}, {"not": {"page": 1}}]}    and, or, not

Every condition is either true or false: one on a field that a document lacks is false, and `not`, `ne` and `not_in` are
true exactly where the plain condition is false. A filter, `and` or `or` without conditions is refused rather than taken
for "everything" or "nothing": a program whose conditions got lost must not search it all. `{"in": []}` finds nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.errors import FilterRefused
from indexer.search.comparing import OPERATORS, Clause, compare
from indexer.search.fields import FIELDS, METADATA, Field, metadata_field
from terminal import did_you_mean

AND, OR, NOT = "and", "or", "not"
MOST_CONDITIONS = 200
MOST_LEVELS = 16


@dataclass
class _Budget:
    """What a filter may still use: a database that compiles it has limits of its own, and worse messages."""

    conditions: int = MOST_CONDITIONS

    def take(self) -> None:
        self.conditions -= 1
        if self.conditions < 0:
            raise FilterRefused(f"The filter has more than {MOST_CONDITIONS} conditions; use 'in' for many values.")


def compile_filter(filter_: Mapping[str, Any], metadata_keys: Collection[str] | None) -> Clause:
    """Return the filter as an SQL condition on the tables of `indexer.search.scope`.

    Args:
        filter_: the filter.
        metadata_keys: the metadata keys that documents of the collection have; None takes any.

    Raises:
        FilterRefused: it is malformed, or names a field or an operator that there is not.
    """
    return _Compiler(metadata_keys, _Budget()).all_of(filter_, 0)


class _Compiler:
    def __init__(self, metadata_keys: Collection[str] | None, budget: _Budget) -> None:
        self._keys = metadata_keys
        self._budget = budget

    def all_of(self, filter_: object, level: int) -> Clause:
        """Compile an object: all of its entries must hold."""
        if level > MOST_LEVELS:
            raise FilterRefused(f"The filter is nested more than {MOST_LEVELS} levels deep.")
        if not isinstance(filter_, Mapping) or not filter_:
            raise FilterRefused(
                f'A filter is an object with at least one condition, such as {{"title": "Ferry"}}, not {filter_!r}. '
                "Leave the filter out to search everything."
            )
        return _joined(" AND ", [self._entry(name, value, level) for name, value in filter_.items()])

    def _entry(self, name: object, value: object, level: int) -> Clause:
        if name == NOT:
            inner = self.all_of(value, level + 1)
            return Clause(f"NOT {inner.sql}", inner.parameters)
        if name in (AND, OR):
            if not isinstance(value, Sequence) or isinstance(value, str) or not value:
                raise FilterRefused(f"{name!r} takes a list of at least one filter, not {value!r}.")
            return _joined(f" {str(name).upper()} ", [self.all_of(each, level + 1) for each in value])
        field = self._field(str(name))
        if not isinstance(value, Mapping):
            return self._condition(field, "eq", value)
        if not value:
            raise FilterRefused(f"The field {name!r} has no operator. Known: {', '.join(OPERATORS)}.")
        return _joined(" AND ", [self._condition(field, str(each), operand) for each, operand in value.items()])

    def _condition(self, field: Field, operator: str, operand: object) -> Clause:
        self._budget.take()
        return compare(field, operator, operand)

    def _field(self, name: str) -> Field:
        if name in FIELDS:
            return FIELDS[name]
        key = name.removeprefix(METADATA)
        if self._keys is None or key in self._keys:
            return metadata_field(key)
        known = [*FIELDS, *sorted(key if key not in FIELDS else METADATA + key for key in self._keys)]
        raise FilterRefused(
            f"The filter names the field {name!r}, which no document has.{did_you_mean(name, known)} "
            f"Known: {', '.join(known)}."
        )


def _joined(with_: str, clauses: Sequence[Clause]) -> Clause:
    sql = with_.join(clause.sql for clause in clauses)
    return Clause(f"({sql})", tuple(parameter for clause in clauses for parameter in clause.parameters))
