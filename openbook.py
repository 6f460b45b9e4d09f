"""The command `openbook`: the commands of the three packages, each loaded when it is called."""

from __future__ import annotations

import signal
import sys

import click

import terminal

COMMANDS = {
    "ingest": ("indexer.commands.ingest:ingest", "Add documents to the index, or bring changed ones up to date."),
    "watch": ("indexer.commands.watch:watch", "Follow folders: bring what changes in them into the index."),
    "documents": ("indexer.commands.documents:documents", "List, show and delete the documents of the index."),
    "search": (
        "indexer.commands.search:search",
        "Show the passages for a question, without a language model.",
    ),
    "doctor": ("indexer.commands.doctor:doctor", "Examine the store, and repair what can be."),
    "rebuild": ("indexer.commands.rebuild:rebuild", "Cut and embed the stored texts anew."),
    "vacuum": ("indexer.commands.vacuum:vacuum", "Clear what was deleted from every file of the store."),
    "backup": ("indexer.commands.backup:backup", "Copy the store while it is served."),
    "restore": ("indexer.commands.backup:restore", "Put a backup in the place of the store."),
    "serve": ("app.cli:serve", "Start the engine and the REST API."),
    "ask": ("app.cli:ask", "Ask a running server a question; print the answer with its sources."),
    "keys": ("app.commands.keys:keys", "Make, list and revoke the API keys of the server."),
    "checkpoints": (
        "app.commands.checkpoints:checkpoints",
        "List the checkpoints, and choose which one a running server answers with.",
    ),
    "finetune": ("experiments.cli:finetune", "Train the fine-tuned checkpoint that an experiment names."),
    "experiment": ("experiments.cli:experiment", "Run and list experiments."),
    "report": ("experiments.cli:report", "Write the report of a finished run again."),
    "corpus": ("experiments.cli:corpus", "Write a corpus of an invented world."),
    "bench": ("openbook:bench", "Measure Openbook against a named baseline."),
}

BENCHES = {
    "ingest": ("indexer.commands.bench_ingest:ingest", "Ingest against bare encoding of the same chunks."),
    "serving": ("experiments.bench.serving:serving", "POST /v1/answers against raw vLLM, same prompts."),
    "cheaper": ("experiments.bench.cheaper:cheaper", "Ways of answering at less cost, against plain retrieval."),
    "replicas": ("experiments.bench.replicas:replicas", "One and more replicas of the engine on the same cores."),
    "overload": ("experiments.bench.overload:overload", "200 clients where 16 may be answered, against 16 alone."),
    "attacks": ("experiments.bench.attacks.command:attacks", "Documents that try to take over the answer."),
    "soak": ("experiments.bench.soak:soak", "Ask, search, upload and delete at once: errors, stale passages, leaks?"),
    "search": ("indexer.commands.bench:search", "A store of up to a million chunks against exact search."),
}


@click.group(cls=terminal.LazyGroup, lazy=BENCHES)
def bench() -> None:
    """Measure Openbook against a named baseline."""
    # Ended by a supervisor, it removes its temporary store and ends its servers just as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


@click.group(cls=terminal.LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="openbook")
def cli() -> None:
    """Answer questions from your documents, and measure whether fine-tuning would have served you better."""


def main() -> None:
    """Run the command line."""
    terminal.run(cli)


if __name__ == "__main__":
    main()
