"""An experiment from specification to report, as a chain of stages that each leave a file.

    corpora ─ingest─> store ─ask─> answers.jsonl ─score─> scores.jsonl ─summarise─> results.json ─> report
                        └─plan─> training/ ─finetune─> checkpoint ─ask─┘

A stage whose file is there is not done again: a run that was interrupted anywhere goes on where it was, without
starting an engine for which no work is left, and a finished one is only scored anew.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from app.schemas.checkpoint import CheckpointCard
from corpus.schema import documents_hash
from experiments.answer_log import AnswerLog
from experiments.asking import Ask, ask_all
from experiments.batches import Batch, asks_of, remaining_batches, warm_up
from experiments.client import Client
from experiments.commands import Commands, Indexing
from experiments.corpora import Corpora
from experiments.environment import environment
from experiments.errors import ServerFailed
from experiments.finetune.job import read_job
from experiments.gates.corpus_parity import require_index_parity
from experiments.oracle import Oracle
from experiments.publish import publish
from experiments.records import AnswerRecord, QuestionSet
from experiments.results import Results
from experiments.run_folder import RunFolder, RunState
from experiments.spec import CorpusName, Spec
from experiments.training_set import plan_training
from terminal import Progress, note

INDEXED: tuple[CorpusName, ...] = ("main", "other")
TITLES: dict[QuestionSet, str] = {
    "test": "Asking {}",
    "again": "Asking {} some questions again",
    "panel": "Asking {} about general knowledge",
}


class Run:
    """One run of one experiment in one folder, which the caller has locked."""

    def __init__(self, spec: Spec, corpora: Corpora, folder: RunFolder, commands: Commands, command: str) -> None:
        """Take up the folder where it was left, or begin it.

        Args:
            spec: What to run.
            corpora: What to run it on.
            folder: Where everything is kept.
            commands: Does the work of the other packages.
            command: The command line that reproduces the run; kept in its results.
        """
        self.spec, self.corpora, self.folder, self.commands = spec, corpora, folder, commands
        self.state = folder.read_state() or RunState(command=command, environment=environment())
        folder.write_spec(spec)
        for name, corpus in corpora.by_name().items():
            folder.write_corpus(name, corpus)
        self._learn(command=command)

    def finish(self) -> Results:
        """Do every stage that is left and return the results."""
        with AnswerLog(self.folder.answers) as log:
            self._use_base(log, remaining_batches(self.spec, self.corpora, "base", log.done))
            batches = remaining_batches(self.spec, self.corpora, "finetuned", log.done)
            if self.spec.finetuned_arms and batches:
                self._use_finetuned(log, batches)
        return publish(self.folder)

    def finetune(self) -> CheckpointCard:
        """Make the fine-tuned checkpoint without asking any question; return its card."""
        with AnswerLog(self.folder.answers) as log:
            self._use_base(log, ())
        return self._train()

    def _use_base(self, log: AnswerLog, batches: Sequence[Batch]) -> None:
        """Serve the base for whatever still needs it: the index's proof, the training prompts, questions."""
        self._ingest()
        planned = not self.spec.finetuned_arms or (self.folder.training / "job.json").exists()
        if not batches and planned and self.state.index_hash:
            return
        with self._serve(self.spec.model, "serve-base") as client:
            self._learn(base=client.readiness().checkpoint)
            self._prove_index(client)
            if not planned:
                plan_training(self.spec, self.corpora.main, client, self.folder.training)
            self._ask(client, log, batches)

    def _use_finetuned(self, log: AnswerLog, batches: Sequence[Batch]) -> None:
        card = self._train()
        with self._serve(card.label, "serve-finetuned") as client:
            served = client.readiness().checkpoint
            if served != card.label:
                raise ServerFailed(f"The server answers with {served}, not with {card.label} as it was asked to.")
            self._ask(client, log, batches)

    def _serve(self, model: str | None, log: str) -> AbstractContextManager[Client]:
        return self.commands.serve(model, self.folder.store, self.spec.embedder, self.folder.log(log))

    def _ingest(self) -> None:
        indexing = Indexing(self.spec.embedder, self.spec.chunk_tokens)
        for name in INDEXED:
            if name in self.state.indexing_seconds or name not in self.corpora.by_name():
                continue
            note(f"Ingesting the corpus {name!r}")
            documents, log = self.folder.documents(name), self.folder.log(f"ingest-{name}")
            started = time.monotonic()
            self.commands.ingest(documents, self.folder.store, name, indexing, log)
            seconds = round(time.monotonic() - started, 3)
            self._learn(indexing_seconds={**self.state.indexing_seconds, name: seconds})

    def _prove_index(self, client: Client) -> None:
        """Hold what the index holds, by the server's own list of documents, against the corpus."""
        held = documents_hash((document.id, document.content_hash) for document in client.documents("main"))
        require_index_parity(held, self.corpora.main.documents_hash)
        self._learn(index_hash=held)

    def _train(self) -> CheckpointCard:
        """Fine-tune as planned, unless the checkpoint is there already; return its card."""
        job = self.folder.training / "job.json"
        planned = read_job(job)
        if not planned.checkpoint.exists():
            note(f"Fine-tuning {planned.label}")
            self.commands.finetune(job, self.folder.log("finetune"))
        text = (planned.checkpoint / "checkpoint.json").read_text(encoding="utf-8")
        card = CheckpointCard.model_validate_json(text)
        self._learn(finetuned=card)
        return card

    def _ask(self, client: Client, log: AnswerLog, batches: Sequence[Batch]) -> None:
        oracles = {name: Oracle(client, name) for name in INDEXED}
        for batch in batches:
            asks, refused = asks_of(batch, oracles)
            for record in refused:
                log.append(record)
            # No arm shall pay for what is loaded on first use.
            ask_all(client.url, [warm_up(batch)], 1, keep=lambda _: None)
            self._ask_batch(client, log, batch, asks)

    def _ask_batch(self, client: Client, log: AnswerLog, batch: Batch, asks: Sequence[Ask]) -> None:
        """Ask one arm's questions; each answer is kept together with the machine's time so far."""
        spent, started = self.state.asking_seconds.get(batch.name, 0.0), time.monotonic()
        title = TITLES[batch.set].format(batch.name)
        with Progress(title, len(asks), "questions") as progress:

            def keep(record: AnswerRecord) -> None:
                log.append(record)
                seconds = round(spent + time.monotonic() - started, 3)
                times = {**self.state.asking_seconds, batch.name: seconds} if batch.set == "test" else {}
                self._learn(
                    asking_seconds=times or self.state.asking_seconds,
                    last_answer=datetime.now(UTC).isoformat(timespec="seconds"),
                )
                progress.advance()

            ask_all(client.url, asks, self.spec.concurrency, keep)

    def _learn(self, **facts: object) -> None:
        """Add to the state and keep it."""
        self.state = self.state.model_copy(update=facts)
        self.folder.write_state(self.state)
