"""BEIR (Thakur et al. 2021, arXiv 2104.08663): `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`.

BEIR judges retrieval and has no answers. They are taken from a list `answers` in a query's `metadata`, or in the query
itself. Queries that no file of `qrels/` names are left out, as BEIR does; those of `qrels/train.tsv` alone are training
wordings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from corpus.loading.building import Documents, Questions
from corpus.loading.fields import Place
from corpus.loading.problems import Problems
from corpus.loading.text_files import Row, read_json_lines, read_text

CORPUS_FILE = "corpus.jsonl"
QUERIES_FILE = "queries.jsonl"
JUDGEMENTS = "qrels"


@dataclass
class Judged:
    """What the qrels say of one query."""

    document_ids: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)


class Beir:
    """Loads a BEIR folder."""

    looks_for = f"a BEIR folder with {CORPUS_FILE}, {QUERIES_FILE} and {JUDGEMENTS}/*.tsv"

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format."""
        return (path / CORPUS_FILE).is_file() and (path / QUERIES_FILE).is_file()

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus, noting its problems."""
        documents = Documents()
        for number, row in read_json_lines(path / CORPUS_FILE, problems):
            documents.add(_renamed(row, "text"), Place(path / CORPUS_FILE, number, problems))
        judged = _judgements(path / JUDGEMENTS, problems)
        questions = Questions(documents)
        for number, row in read_json_lines(path / QUERIES_FILE, problems):
            query = judged.get(str(row.get("_id")))
            if query is not None:
                questions.add(_question(row, query), Place(path / QUERIES_FILE, number, problems))
        return documents, questions


def _judgements(folder: Path, problems: Problems) -> dict[str, Judged]:
    """Return query id to its relevant documents, those with a score above 0."""
    judged: dict[str, Judged] = {}
    files = sorted(folder.glob("*.tsv"))
    if not files:
        problems.add(folder, None, "holds no .tsv file; BEIR needs qrels to say which documents answer a query")
    for file in files:
        for number, line in enumerate((read_text(file, problems) or "").split("\n"), start=1):
            cells = line.split("\t")
            if not line.strip() or (number == 1 and cells[0] == "query-id"):
                continue
            try:
                query_id, document_id, score = cells[0], cells[1], int(cells[2])
            except (IndexError, ValueError):
                problems.add(
                    file, number, f"{line!r} must be query id, document id and a whole number, with tabs between"
                )
                continue
            if score > 0:
                query = judged.setdefault(query_id, Judged())
                query.document_ids.append(document_id)
                query.files.add(file.stem)
    return judged


def _question(row: Row, judged: Judged) -> Row:
    metadata = row.get("metadata")
    inside = metadata.get("answers") if isinstance(metadata, dict) else None
    return {
        **_renamed(row, "question"),
        "answers": row.get("answers", inside),
        "document_ids": judged.document_ids,
        "split": "train" if judged.files == {"train"} else "test",
    }


def _renamed(row: Row, text: str) -> Row:
    """Return a row with BEIR's names replaced by ours: `_id` and `text`."""
    names = {"_id": "id", "text": text}
    renamed = {names.get(key, key): value for key, value in row.items() if key != "metadata"}
    metadata = row.get("metadata")
    plain = metadata.items() if isinstance(metadata, dict) else ()
    return {**renamed, "metadata": {key: str(value) for key, value in plain if isinstance(value, str | int | float)}}
