"""Writing a corpus: as JSON lines for programs, or as a folder of Markdown for people.

documents.jsonl + questions.jsonl      what `openbook ingest` and the JSONL loader read
documents/**/*.md + questions.jsonl    what the folder loader reads; a document's id is its path
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from pydantic import BaseModel

from corpus import front_matter
from corpus.errors import CorpusError
from corpus.schema import Corpus, Document, Question

DOCUMENTS_FILE = "documents.jsonl"
QUESTIONS_FILE = "questions.jsonl"
DOCUMENTS_FOLDER = "documents"


def write_jsonl(folder: Path, corpus: Corpus) -> None:
    """Write `documents.jsonl` and `questions.jsonl` into a folder, which is made if need be."""
    write_documents(folder / DOCUMENTS_FILE, corpus.documents)
    write_questions(folder / QUESTIONS_FILE, corpus.questions)


def write_folder(folder: Path, corpus: Corpus) -> None:
    """Write every document as Markdown with front matter, and `questions.jsonl` beside them."""
    write_markdown(folder / DOCUMENTS_FOLDER, corpus.documents)
    write_questions(folder / QUESTIONS_FILE, corpus.questions)


def write_documents(path: Path, documents: Iterable[Document]) -> None:
    """Write documents as JSON lines, one by one, so that an iterator of a million takes no memory."""
    _write_lines(path, documents)


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write questions as JSON lines, one by one."""
    _write_lines(path, questions)


def write_markdown(folder: Path, documents: Iterable[Document]) -> None:
    """Write each document to the file that its id names, below `folder`."""
    for document in documents:
        path = folder / _relative_path(document.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(as_markdown(document), encoding="utf-8", newline="\n")


def as_markdown(document: Document) -> str:
    """Return a document as the text of a Markdown file."""
    fields = {
        "title": document.title,
        "effective": document.effective.isoformat() if document.effective else "",
        "authority": str(document.authority),
        "supersedes": document.supersedes or "",
        **document.metadata,
    }
    return front_matter.join({key: value for key, value in fields.items() if value}, document.text)


def _relative_path(document_id: str) -> PurePosixPath:
    path = PurePosixPath(document_id)
    if path.is_absolute() or ".." in path.parts or path.suffix != ".md":
        raise CorpusError(
            f"The document id {document_id!r} cannot be a file in a folder corpus: it must be a relative path ending "
            "in .md. Write this corpus as JSON lines instead."
        )
    return path


def _write_lines(path: Path, rows: Iterable[BaseModel]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(row.model_dump_json(exclude_defaults=True) + "\n")
