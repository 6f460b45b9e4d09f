"""The same documents as Markdown, HTML, PDF, DOCX and PPTX: a question finds its document in each.

`python -m tests.indexer.parsing.test_same_facts` prints the figures. The documents are the `organisations` of the
public data that the project is measured with, in `$OPENBOOK_DATA` or `../shared/data`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

from indexer.index import Index
from indexer.ingesting.ingest import ingest
from indexer.settings import IndexerSettings

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("OPENBOOK_DATA") or ROOT.parent / "shared" / "data") / "organisations"
COMPARED = ("md", "html", "pdf", "docx")
TOP_K = 5
LARGEST_DIFFERENCE = 0.05


def folder_of(format_: str) -> Path:
    return DATA / "md" / "Cloudway 24" if format_ == "md" else DATA / "other_formats" / "Cloudway 24" / format_


def questions() -> list[tuple[str, set[str]]]:
    """Return the questions on documents that are there in every format, with the names of those documents."""
    names = set.intersection(*({path.stem.strip() for path in folder_of(format_).iterdir()} for format_ in COMPARED))
    rows = [json.loads(line) for line in (DATA / "questions.jsonl").read_text().splitlines()]
    asked = [(row["question"], {Path(id_).stem.strip() for id_ in row["doc_ids"]}) for row in rows]
    return [(question, gold) for question, gold in asked if gold and gold <= names]


def recall(format_: str, store: Path) -> float:
    """Return for how many questions one of the first passages is of the document that answers it.

    The documents of the other organisation are there too, as Markdown.
    """
    settings = IndexerSettings()
    ingest(store, [folder_of(format_), DATA / "md" / "Aventro Motors"], "default", settings=settings)
    index = Index.open(store, settings=settings)
    try:
        asked = questions()
        found = 0
        for question, gold in asked:
            hits = index.search("default", question, TOP_K).hits
            found += bool(gold & {Path(hit.document_id).stem.strip() for hit in hits})
        return found / len(asked)
    finally:
        index.close()


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason=f"no documents in {DATA} (set OPENBOOK_DATA)")
def test_a_document_is_found_as_often_in_every_format(tmp_path):
    figures = {format_: recall(format_, tmp_path / format_) for format_ in COMPARED}
    assert max(figures.values()) - min(figures.values()) <= LARGEST_DIFFERENCE, figures


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(len(questions()), "questions", file=sys.stderr)  # noqa: T201
        for each in (*COMPARED, "pptx"):
            print(f"{each}: recall@{TOP_K} {recall(each, Path(folder) / each):.3f}")  # noqa: T201
