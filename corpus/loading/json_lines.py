"""JSON lines: `documents.jsonl` (or `docs.jsonl`) and `questions.jsonl` in one folder.

    {"id": "inn", "text": "The Copper Heron has 17 beds.", "title": "Inns"}
    {"id": "q1", "question": "How many beds has the Copper Heron?", "answers": ["17", "seventeen"],
     "document_ids": ["inn"], "split": "test"}

`doc_ids` may stand for `document_ids`. Further plain fields of a document become its metadata.
"""

from __future__ import annotations

from pathlib import Path

from corpus.loading.building import Documents, Questions
from corpus.loading.fields import Place
from corpus.loading.problems import Problems
from corpus.loading.text_files import read_json_lines
from corpus.writing import DOCUMENTS_FILE, QUESTIONS_FILE

DOCUMENT_FILES = (DOCUMENTS_FILE, "docs.jsonl")


class JsonLines:
    """Loads a folder of JSON lines."""

    looks_for = f"a folder with {' or '.join(DOCUMENT_FILES)} and {QUESTIONS_FILE}"

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format."""
        return any((path / name).is_file() for name in DOCUMENT_FILES) and (path / QUESTIONS_FILE).is_file()

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus, noting its problems."""
        file = next((path / name for name in DOCUMENT_FILES if (path / name).is_file()), path / DOCUMENTS_FILE)
        documents = Documents()
        for number, row in read_json_lines(file, problems):
            documents.add(row, Place(file, number, problems))
        questions = Questions(documents)
        add_questions(questions, path / QUESTIONS_FILE, problems)
        return documents, questions


def add_questions(questions: Questions, file: Path, problems: Problems) -> None:
    """Add the questions of a `questions.jsonl`."""
    for number, row in read_json_lines(file, problems):
        questions.add(row, Place(file, number, problems))
