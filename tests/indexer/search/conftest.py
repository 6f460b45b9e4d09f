"""Documents in a store, given as records of a JSONL file."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.search.options import SearchOptions

Add = Callable[..., None]


@pytest.fixture
def add(store, settings, tmp_path) -> Add:
    """Return a function that ingests documents, each given as its fields or, by its id, as its text."""

    def add_(*documents: dict[str, object], collection: str = "default", **texts: str) -> None:
        path = tmp_path / f"{collection}.jsonl"
        all_ = [*documents, *({"id": id_, "text": text} for id_, text in texts.items())]
        path.write_text("\n".join(json.dumps(document) for document in all_), encoding="utf-8")
        ingest(store, [path], collection, settings=settings)

    return add_


def found(index: Index, question: str, top_k: int = 10, collection: str = "default", **options: object) -> list[str]:
    """Return the ids of the documents whose passages are found, best first."""
    result = index.search(collection, question, top_k, SearchOptions(**options))
    return [hit.document_id for hit in result.hits]
