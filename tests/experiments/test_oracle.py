"""The oracle's choice among the chunks of the evidence."""

from __future__ import annotations

from types import SimpleNamespace

from app.schemas.document import ChunkView
from experiments.oracle import Oracle
from tests.experiments.answers import a_question

CHUNKS = {
    "inn.md": [
        "The inn has a red door.",
        "The keeper of the inn is Una Marsh. It has 17 beds.",
        "Una Marsh likes tea.",
    ],
    "log.md": ["On Monday 7 guests came to the inn.", "On Tuesday 17 came."],
}


class Documents:
    """A server's documents, counted as they are fetched."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    def document(self, collection: str, id: str) -> SimpleNamespace:
        self.fetched.append(id)
        first = 1 + sum(len(chunks) for name, chunks in CHUNKS.items() if name < id)
        texts = CHUNKS[id]
        return SimpleNamespace(
            chunks=tuple(
                ChunkView(id=first + n, text=text, start=0, end=len(text), tokens=9) for n, text in enumerate(texts)
            )
        )


def passage(question: str, answer: str, *documents: str) -> int | None:
    asked = a_question(answer, document_ids=documents).model_copy(update={"question": question})
    return Oracle(Documents(), "main").passage(asked)


def test_a_chunk_that_holds_the_answer_is_chosen_and_of_several_the_one_nearest_to_the_question():
    assert passage("Who is the keeper of the inn?", "Una Marsh", "inn.md") == 2
    assert passage("Who likes tea?", "Una Marsh", "inn.md") == 3


def test_a_number_inside_a_longer_one_is_no_evidence():
    assert passage("How many guests came?", "7", "inn.md", "log.md") == 4


def test_without_the_answer_the_nearest_chunk_of_the_evidence_is_taken():
    assert passage("Which colour has the door of the inn?", "scarlet", "inn.md") == 1


def test_without_evidence_there_is_no_passage():
    assert passage("Who?", "Una Marsh") is None


def test_a_document_is_fetched_once():
    documents = Documents()
    oracle = Oracle(documents, "main")
    for _ in range(3):
        oracle.passage(a_question("Una Marsh", document_ids=("inn.md",)))
    assert documents.fetched == ["inn.md"]
