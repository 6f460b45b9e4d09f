"""Planning the fine-tuned checkpoint: the rows to learn and the job file, written while the base is served.

Every row's messages come from the app's own prompt builder over `POST /v1/prompts`: what is trained is what is served.
"""

from __future__ import annotations

import os
from pathlib import Path

from app.schemas.answer import AnswerRequest
from app.schemas.prompt import Message
from corpus.home import checkpoints_home
from corpus.schema import Corpus
from experiments.client import Client
from experiments.finetune.job import TrainingJob
from experiments.finetune.recipes import RECIPES
from experiments.finetune.rows import write_rows
from experiments.spec import Spec
from terminal import Progress


def plan_training(spec: Spec, corpus: Corpus, client: Client, folder: Path) -> TrainingJob:
    """Write `rows.jsonl` and, last, `job.json` into the folder; return the job.

    Raises:
        JobError: The recipe finds nothing to learn in the corpus.
    """
    wordings = corpus.split("train")
    with Progress("Rendering training prompts", len(wordings), "rows") as progress:

        def closed_book(question: str) -> tuple[Message, ...]:
            progress.advance()
            return client.prompt(AnswerRequest(question=question, retriever="none", prompt="closed_book")).messages

        rows = RECIPES[spec.finetune.recipe](corpus, closed_book)
    base_label = client.readiness().checkpoint
    registered = checkpoints_home() / base_label
    job = TrainingJob(
        base=str(registered) if registered.is_dir() else spec.model or base_label,
        base_label=base_label,
        name=spec.name,
        destination=checkpoints_home(),
        rows=folder / "rows.jsonl",
        training_hash=write_rows(folder / "rows.jsonl", rows),
        documents_hash=corpus.documents_hash,
        recipe=spec.finetune.recipe,
        settings=spec.finetune.settings,
    )
    whole = folder / "job.json.part"
    whole.write_text(job.model_dump_json(indent=2), encoding="utf-8")
    os.replace(whole, folder / "job.json")
    return job
