"""Superseded documents: what replaces them comes first.

A document says which other it supersedes. Where passages of both are found, the better place goes to the one that
holds now, and the superseded passages follow it; they stay to be found by whoever asks what was before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from indexer.search.hits import Hit


def mark(hits: Sequence[Hit], superseding: Mapping[str, tuple[str, ...]]) -> list[Hit]:
    """Say of each passage by which documents its own is superseded."""
    return [
        replace(hit, superseded_by=superseding[hit.document_id]) if hit.document_id in superseding else hit
        for hit in hits
    ]


def current_first(hits: Sequence[Hit], superseding: Mapping[str, tuple[str, ...]]) -> list[Hit]:
    """Put the best passage of a superseding document before the first superseded one, where both are there."""
    order = list(hits)
    for hit in hits:
        above = all_superseding(hit.document_id, superseding)
        if not above:
            continue
        position = order.index(hit)
        behind = next((at for at in range(len(order)) if order[at].document_id in above), None)
        if behind is not None and behind > position:
            order.insert(position, order.pop(behind))
    return order


def all_superseding(document_id: str, superseding: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return the documents that supersede one, and those that supersede these; never itself."""
    found: set[str] = set()
    waiting = list(superseding.get(document_id, ()))
    while waiting:
        next_ = waiting.pop()
        if next_ not in found:
            found.add(next_)
            waiting += superseding.get(next_, ())
    # Documents that supersede each other in a circle say nothing about which of them holds.
    return found if document_id not in found else set()
