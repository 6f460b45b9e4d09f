from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import asking
from tests.experiments.small_openbook import SmallOpenbook

PEOPLE = ["Ida Brook", "Tom Fell", "Una Marsh", "Wil Sands", "Eva Thorn", "Ned Holm"]
PLACES = ["the lighthouse", "the mill", "the inn", "the school", "the bakery", "the forge"]

SPEC = """\
name: village
corpus: {path: village}
other_corpus: {world: {seed: 11, documents: 3}}
concurrency: 4
primary: {a: rag, b: ft, metric: contains_answer}
arms:
  closed_book: {retriever: none}
  rag: {retriever: dense, top_k: 2}
  oracle: {retriever: oracle}
  wrong_corpus: {retriever: dense, corpus: other}
  ft: {retriever: none, checkpoint: finetuned}
  ft_rag: {retriever: dense, checkpoint: finetuned}
"""

BASE_ARMS = """\
name: village
corpus: {path: village}
concurrency: 4
primary: {a: rag, b: closed_book}
arms:
  closed_book: {retriever: none}
  rag: {retriever: dense, top_k: 2}
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "home"))


@pytest.fixture
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAUSES_SECONDS", (0.0, 0.0, 0.0))


@pytest.fixture
def openbook(_quick_retries: None) -> SmallOpenbook:
    return SmallOpenbook()


@pytest.fixture
def write_spec(tmp_path: Path) -> Callable[[str], Path]:
    """Write a specification beside the corpus of a village of six houses."""

    def write(text: str) -> Path:
        write_village(tmp_path / "village")
        path = tmp_path / "village.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def write_village(folder: Path) -> None:
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    questions = []
    for number, (person, place) in enumerate(zip(PEOPLE, PLACES, strict=True)):
        id, fact = f"house-{number}.md", f"keeper-{number}"
        text = f"A page about {place}. The keeper of {place} is {person}. It stands by the water"
        (folder / "documents" / id).write_text(text, encoding="utf-8")
        wordings = {"train": f"Who keeps {place}?", "test": f"What is the keeper of {place} called?"}
        questions += [
            {
                "id": f"{fact}-{split}",
                "question": wording,
                "answers": [person],
                "document_ids": [id],
                "split": split,
                "fact_id": fact,
            }
            for split, wording in wordings.items()
        ]
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
