"""Answers and questions for tests, with everything that does not matter filled in."""

from __future__ import annotations

from app.schemas.answer import Answer, Timing, Usage
from app.schemas.passage import Passage
from corpus.schema import Question


def an_answer(text: str = "", documents: tuple[str, ...] = (), **changes: object) -> Answer:
    passages = tuple(
        Passage(label=number, id=number, document_id=id, title="", source=id, text="", start=0, end=0, score=1.0)
        for number, id in enumerate(documents, 1)
    )
    whole = Answer(
        id="a-1",
        question="?",
        answer=text,
        citations=(),
        passages=passages,
        checkpoint="base@1",
        retriever="dense" if documents else "none",
        prompt="passages@1" if documents else "closed_book@1",
        collection="main",
        index_generation=1,
        finish_reason="stop",
        usage=Usage(prompt_tokens=100, completion_tokens=5),
        timing=Timing(search_ms=1.0, generate_ms=2.0, total_ms=3.0),
    )
    return whole.model_copy(update=changes)


def a_question(*answers: str, id: str = "q-1", **fields: object) -> Question:
    return Question.model_validate({"id": id, "question": "Who?", "answers": answers or ("Ida",), **fields})
