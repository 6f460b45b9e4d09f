"""Documents and questions out of rows, with every check that all formats share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import ValidationError

from corpus.loading.fields import Place, nearest, take_list, take_text
from corpus.loading.text_files import Row
from corpus.normalisation import normalised_words
from corpus.schema import Document, Question

DOCUMENT_FIELDS = ("id", "text", "title", "effective", "authority", "supersedes", "metadata")
EVIDENCE = ("document_ids", "doc_ids")
SPLITS = ("train", "test")

Item = TypeVar("Item", Document, Question)


class Documents:
    """The documents of a corpus while it is read."""

    def __init__(self) -> None:
        """Start with none."""
        self.by_id: dict[str, Document] = {}
        self.ids: set[str] = set()
        """Every id seen, of documents with a problem as well: a question about one has no fault of its own."""
        self._places: dict[str, Place] = {}

    def add(self, row: Row, place: Place) -> None:
        """Add the document of a row. Fields that a document does not have become metadata."""
        document_id = take_text(row, ("id",), place, "the document")
        text = take_text(row, ("text",), place, "the document")
        self.ids.update([document_id] if document_id else [])
        if document_id is None or text is None:
            return
        known = {name: row[name] for name in DOCUMENT_FIELDS[2:] if row.get(name) not in (None, "")}
        metadata = known.get("metadata", {})
        if not isinstance(metadata, dict):
            place.wrong(f"'metadata' is {metadata!r}; it must be an object of texts")
            return
        known["metadata"] = {**_extra(row), **metadata}
        document = _built(lambda: Document(id=document_id, text=text, **known), place)
        if document is None:
            return
        if document_id in self.by_id:
            place.wrong(f"the document id {document_id!r} is taken by {_where(self._places[document_id])}")
            return
        self.by_id[document_id] = document
        self._places[document_id] = place


class Questions:
    """The questions of a corpus while it is read, after its documents."""

    def __init__(self, documents: Documents) -> None:
        """Start with none, for questions about these documents."""
        self.by_id: dict[str, Question] = {}
        self._places: dict[str, Place] = {}
        self._documents = documents

    def add(self, row: Row, place: Place) -> None:
        """Add the question of a row. Fields that a question does not have are left out."""
        question_id = take_text(row, ("id",), place, "the question")
        text = take_text(row, ("question",), place, "the question")
        answers = self._answers(row, place)
        evidence = self._evidence(row, place)
        split = row.get("split") or "test"
        if split not in SPLITS:
            place.wrong(f"'split' is {split!r}; it must be 'train' or 'test'.{nearest(str(split), SPLITS)}")
            return
        if question_id is None or text is None or not answers or evidence is None:
            return
        question = _built(
            lambda: Question(
                id=question_id,
                question=text,
                answers=answers,
                document_ids=evidence,
                split=split,
                fact_id=row.get("fact_id") or None,
            ),
            place,
        )
        if question is None:
            return
        if question_id in self.by_id:
            place.wrong(f"the question id {question_id!r} is taken by {_where(self._places[question_id])}")
            return
        self.by_id[question_id] = question
        self._places[question_id] = place

    def _answers(self, row: Row, place: Place) -> tuple[str, ...]:
        if row.get("answers") is None:
            take_text(row, ("answers",), place, "the question")
            return ()
        before = len(place.problems.found)
        answers = take_list(row, ("answers",), place)
        if not answers and len(place.problems.found) == before:
            place.wrong("'answers' is empty; give at least one accepted answer")
        for answer in answers:
            if not normalised_words(answer):
                place.wrong(
                    f"the answer {answer!r} cannot be scored: without case, punctuation and articles nothing is left; "
                    "write it out or remove it"
                )
        return answers

    def _evidence(self, row: Row, place: Place) -> tuple[str, ...] | None:
        document_ids = take_list(row, EVIDENCE, place)
        unknown = [document_id for document_id in document_ids if document_id not in self._documents.ids]
        for document_id in unknown:
            place.wrong(f"no document has the id {document_id!r}.{nearest(document_id, self._documents.ids)}")
        return None if unknown else document_ids


def _extra(row: Row) -> dict[str, str]:
    """Return the fields that a document does not have, where they are plain values and not blank."""
    return {
        str(key): str(value)
        for key, value in row.items()
        if key not in DOCUMENT_FIELDS and isinstance(value, str | int | float | bool) and value != ""
    }


def _built(build: Callable[[], Item], place: Place) -> Item | None:
    try:
        return build()
    except ValidationError as error:
        for problem in error.errors():
            field = ".".join(str(part) for part in problem["loc"])
            place.wrong(f"{field!r} is {problem['input']!r}: {problem['msg']}")
        return None


def _where(place: Place) -> str:
    return f"{place.path.name}:{place.at} already; ids must be unique"
