"""Corpora written for the tests of the loaders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from corpus.loading import load_corpus

DOCUMENT = {"id": "inn", "text": "The Copper Heron has 17 beds."}
QUESTION = {"id": "q1", "question": "How many beds?", "answers": ["17", "seventeen"], "document_ids": ["inn"]}


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def jsonl_corpus(folder: Path, documents: str, questions: str, encoding: str = "utf-8") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "documents.jsonl").write_bytes(documents.encode(encoding))
    (folder / "questions.jsonl").write_bytes(questions.encode(encoding))
    return folder


def error_of(path: Path, format: str | None = None) -> str:
    with pytest.raises(CorpusError) as caught:
        load_corpus(path, format)
    return str(caught.value)
