"""Starting an experiment: whatever can be checked before it costs anything, then its run, alone in its folder."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.schemas.checkpoint import CheckpointCard
from app.schemas.prompt import Message
from corpus.errors import UsageError
from experiments.commands import Commands, OpenbookCommands
from experiments.corpora import Corpora, load_corpora
from experiments.errors import SpecError
from experiments.finetune.recipes import RECIPES
from experiments.gates.leakage import require_no_leakage
from experiments.gates.metric_self_test import require_scorable_questions
from experiments.results import Results
from experiments.run import Run
from experiments.run_folder import RunFolder
from experiments.spec import Spec
from experiments.spec_file import find_spec, read_spec
from terminal import note

NOT_DECISIVE = {"price", "margin", "primary", "corpus", "other_corpus", "questions"}
"""Parts of a specification that change no answer, and those that the corpora's own hashes stand for."""


@dataclass(frozen=True)
class Finished:
    """A finished run."""

    folder: RunFolder
    results: Results


def run_experiment(
    name: str, runs: Path, engine_url: str | None = None, fresh: bool = False, commands: Commands | None = None
) -> Finished:
    """Run an experiment, or go on with it.

    Args:
        name: Path of the specification, or the name of a shipped one.
        runs: The folder of all runs.
        engine_url: An OpenAI-compatible server to ask instead of starting vLLM.
        fresh: Begin anew.
        commands: Does the work of the other packages; None runs `openbook` itself.
    """
    with _run(name, runs, engine_url, fresh, commands) as run:
        return Finished(run.folder, run.finish())


def finetune_experiment(name: str, runs: Path, commands: Commands | None = None) -> CheckpointCard:
    """Make the fine-tuned checkpoint of an experiment; return its card."""
    with _run(name, runs, None, False, commands) as run:
        if not run.spec.finetuned_arms:
            raise UsageError(f"The experiment {run.spec.name!r} has no arm with 'checkpoint: finetuned'.")
        return run.finetune()


def run_hash(spec: Spec, corpora: Corpora) -> str:
    """Return a hash over everything that decides an answer: runs that share it can share their answers."""
    decisive = spec.model_dump(mode="json", exclude=NOT_DECISIVE)
    questions = {
        name: [q.model_dump(mode="json") for q in corpus.questions] for name, corpus in corpora.by_name().items()
    }
    documents = {name: corpus.documents_hash for name, corpus in corpora.by_name().items()}
    text = json.dumps([decisive, questions, documents], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _run(name: str, runs: Path, engine_url: str | None, fresh: bool, commands: Commands | None) -> Iterator[Run]:
    path = find_spec(name)
    spec = read_spec(path)
    if engine_url and spec.finetuned_arms:
        raise UsageError(
            f"--engine-url serves the base alone, and the arms {', '.join(spec.finetuned_arms)} need a fine-tuned "
            "checkpoint. Leave those arms out of the specification, or leave the option out."
        )
    corpora = load_corpora(spec)
    check(spec, corpora)
    folder = RunFolder(runs / f"{spec.name}-{run_hash(spec, corpora)[:8]}")
    with folder.locked():
        if fresh and folder.path.exists():
            shutil.rmtree(folder.path)
        note(f"{'Going on with' if folder.read_state() else 'Beginning'} the run in {folder.path}")
        try:
            yield Run(spec, corpora, folder, commands or OpenbookCommands(engine_url), _command(name, engine_url))
        except KeyboardInterrupt:
            note("Stopped. Nothing is lost: the same command goes on from here.")
            raise


def check(spec: Spec, corpora: Corpora) -> None:
    """Refuse an experiment that could not be finished or would prove nothing, before anything is started.

    Raises:
        SpecError: The corpus lacks what an arm needs.
        GateFailed: Test wordings are among the training wordings.
    """
    test = corpora.main.split("test")
    if not test:
        raise SpecError(f"The corpus {corpora.main.name!r} has no test questions, so there is nothing to ask.")
    require_scorable_questions((*test, *corpora.panel.questions))
    oracles = [name for name, arm in spec.arms.items() if arm.retriever == "oracle"]
    if oracles and not any(question.document_ids for question in test):
        raise SpecError(
            f"The arm {oracles[0]!r} gives the right passage, but no question of the corpus {corpora.main.name!r} "
            "names its evidence ('document_ids'). Add it, or leave the arm out."
        )
    if spec.finetuned_arms:
        # A recipe says itself what it misses in a corpus; the prompts do not matter yet.
        RECIPES[spec.finetune.recipe](corpora.main, lambda question: (Message(role="user", content=question),))
        require_no_leakage(corpora.main)


def _command(name: str, engine_url: str | None) -> str:
    return shlex.join(["openbook", "experiment", "run", name, *(["--engine-url", engine_url] if engine_url else [])])
