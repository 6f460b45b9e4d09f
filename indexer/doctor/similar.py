"""Documents that say nearly the same: advice, no sickness."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from indexer.doctor.findings import Finding, Patient, few
from indexer.ingesting.duplicates import NearDuplicates
from indexer.store import queries

COMPARED_AT_ONCE = 256


class DocumentsDiffer:
    """No two documents of a collection say nearly the same."""

    name = "near-duplicate documents"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Look for the nearest of each document among the others."""
        for name in patient.states:
            pairs = sorted(_pairs(patient, name))
            if pairs:
                said = [f"{one!r} and {other!r}" for one, other in pairs]
                command = f"openbook documents delete --collection {name} ID"
                yield Finding("warn", f"Documents of {name!r} that say nearly the same: {few(said)}.", command)


def _pairs(patient: Patient, name: str) -> set[tuple[str, str]]:
    near = NearDuplicates(patient.connection, name)
    signed = queries.signatures(patient.connection, name)
    pairs: set[tuple[str, str]] = set()
    while some := list(islice(signed, COMPARED_AT_ONCE)):
        for (id_, _), nearest in zip(some, near.find(some), strict=True):
            if nearest is not None:
                pairs.add((min(id_, nearest.id), max(id_, nearest.id)))
    return pairs
