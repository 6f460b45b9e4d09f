"""A folder of readable documents: `documents/**/*.md` or `.txt`, and `questions.jsonl` beside `documents/`.

A document's id is its path below `documents/`, with `/` between folders. Its text is the file without front matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus import front_matter
from corpus.loading.building import Documents, Questions
from corpus.loading.fields import Place
from corpus.loading.json_lines import add_questions
from corpus.loading.problems import Problems
from corpus.loading.text_files import read_text
from corpus.writing import DOCUMENTS_FOLDER, QUESTIONS_FILE

SUFFIXES = (".md", ".markdown", ".txt")


class Folder:
    """Loads a folder of Markdown and text files."""

    looks_for = f"a folder with {DOCUMENTS_FOLDER}/ and {QUESTIONS_FILE}"

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format."""
        return (path / DOCUMENTS_FOLDER).is_dir() and (path / QUESTIONS_FILE).is_file()

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus, noting its problems."""
        folder = path / DOCUMENTS_FOLDER
        files = list(document_files(folder))
        if not files:
            problems.stop(folder, None, f"holds no {', '.join(SUFFIXES)} file; put the documents there")
        documents = Documents()
        for file in files:
            self._add_document(documents, folder, file, problems)
        questions = Questions(documents)
        add_questions(questions, path / QUESTIONS_FILE, problems)
        return documents, questions

    def _add_document(self, documents: Documents, folder: Path, file: Path, problems: Problems) -> None:
        source = read_text(file, problems)
        if source is None:
            return
        parts = front_matter.Parts({}, {}, source.strip("\n")) if file.suffix == ".txt" else front_matter.split(source)
        row = {**parts.fields, "id": file.relative_to(folder).as_posix(), "text": parts.text}
        line = parts.lines.get("effective") or parts.lines.get("authority") or 1
        documents.add(row, Place(file, line, problems))


def document_files(folder: Path) -> Iterator[Path]:
    """Yield the document files below a folder in the order of their ids, hidden ones left out."""
    found = (
        (file.relative_to(folder), file)
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES and file.is_file()
    )
    for relative, file in sorted(found, key=lambda pair: pair[0].as_posix()):
        if not any(part.startswith(".") for part in relative.parts):
            yield file
