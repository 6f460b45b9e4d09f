"""The corpora of an experiment: its own, another one for the wrong-corpus arm, and the panel of general knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus.loading import load_corpus
from corpus.schema import Corpus, Question
from corpus.world.generate import DOCUMENTS, world_corpus
from experiments.run_folder import read_lines
from experiments.spec import CorpusSource, Spec

PANELS = Path(__file__).parent / "panels"


@dataclass(frozen=True)
class Corpora:
    """What an experiment is run on."""

    main: Corpus
    """Its test questions are those that are asked."""
    other: Corpus | None
    """Documents that hold no answer."""
    panel: Corpus
    """Questions of general knowledge, without documents; empty where the experiment has none."""

    def by_name(self) -> dict[str, Corpus]:
        """Return the corpora that there are, under the names of their folders in the run."""
        named = {"main": self.main, "other": self.other, "panel": self.panel}
        return {name: corpus for name, corpus in named.items() if corpus is not None}


def load_corpora(spec: Spec) -> Corpora:
    """Load what a specification names.

    Raises:
        CorpusError: A corpus cannot be read.
    """
    searched = any(arm.corpus == "other" for arm in spec.arms.values())
    other = load_source(spec.other_corpus) if spec.other_corpus and searched else None
    return Corpora(
        main=_limited(load_source(spec.corpus), spec.questions.limit),
        other=None if other is None else _only_documents(other),
        panel=Corpus(name="panel", documents=(), questions=_panel_questions(spec.panel)),
    )


def load_source(source: CorpusSource) -> Corpus:
    """Load or generate one corpus."""
    if source.world is not None:
        return world_corpus(source.world.seed, source.world.documents or DOCUMENTS)
    assert source.path is not None
    return load_corpus(source.path, source.format)


def _only_documents(other: Corpus) -> Corpus:
    """Drop the questions, and mark the ids, lest a document of the same name passes for evidence."""
    marked = tuple(document.model_copy(update={"id": f"other/{document.id}"}) for document in other.documents)
    return other.model_copy(update={"documents": marked, "questions": ()})


def _limited(corpus: Corpus, limit: int | None) -> Corpus:
    """Keep every training question and the first `limit` test questions."""
    kept = (*corpus.split("train"), *corpus.split("test")[:limit])
    return corpus.model_copy(update={"questions": kept})


def _panel_questions(panel: str | None) -> tuple[Question, ...]:
    return tuple(read_lines(PANELS / f"{panel}.jsonl", Question)) if panel else ()
