"""The commands `openbook serve` and `openbook ask`: reading options and printing, nothing else.

Heavy modules are imported inside the commands, so that `--help` starts at once.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from corpus.errors import UsageError

DEFAULT_URL = "http://127.0.0.1:8000"
ARMS: dict[str, dict[str, Any]] = {"rag": {"retriever": "dense"}, "closed_book": {"retriever": "none"}}


@click.command()
@click.option("--host", help="Address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 8000 by default, 0 takes a free one.")
@click.option("--insecure", is_flag=True, default=None, help="Allow without API keys a --host that others can reach.")
@click.option("--cors-origin", multiple=True, metavar="ORIGIN", help="Let pages of this origin call the API.")
@click.option("--requests-per-minute", type=click.IntRange(min=1), help="Limit of each API key; none by default.")
@click.option("--drain-seconds", type=click.FloatRange(min=0), help="After SIGTERM, time for what is under way; 25 s.")
@click.option(
    "--model",
    multiple=True,
    metavar="LABEL|PATH|HF_ID",
    help="What to serve, the default first; repeatable. The base checkpoint by default.",
)
@click.option("--replicas", type=click.IntRange(min=1), help="vLLM servers of each model; from two on behind a router.")
@click.option(
    "--routing",
    metavar="NAME|MODULE:CLASS",
    help="What answers where no model is named: fixed, by_question_length, by_retrieval_confidence or your class.",
)
@click.option("--routing-threshold", type=float, help="Words, or cosine similarity, where the policy draws its line.")
@click.option("--routing-checkpoint", metavar="LABEL", help="What answers beyond it; the second --model by default.")
@click.option("--embedder", metavar="PATH|HF_ID", help="Embedding model; the store's own by default.")
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Folder of the index.")
@click.option(
    "--engine-url",
    multiple=True,
    metavar="URL",
    help="Use this OpenAI-compatible server, or router, instead of starting vLLM; repeatable.",
)
@click.option(
    "--engine-port", type=click.IntRange(0, 65535), help="Loopback port for vLLM or its router; a free one by default."
)
@click.option("--prompt", help="Prompt for questions with passages; worked_examples by default.")
@click.option("--prompts", type=click.Path(path_type=Path, file_okay=False), help="Folder of prompts of your own.")
@click.option("--max-model-len", type=click.IntRange(min=64), help="Tokens of prompt and answer; 2048 by default.")
@click.option("--kv-cache-gib", type=click.IntRange(min=1), help="Memory for the key-value cache on a CPU, in GiB.")
@click.option("--otlp-endpoint", metavar="URL", help="Send OpenTelemetry traces there, those of vLLM too.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="How the log on stderr is written; text.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="The least that is logged; info."
)
@click.option(
    "--compile",
    "compile_model",
    is_flag=True,
    default=None,
    help="Compile the model: starts a minute later, then answers 15 to 20 % faster on a CPU.",
)
@click.option("--engine-args", metavar="ARGS", help="More arguments of vLLM in one string, such as '--block-size 64'.")
def serve(**options: Any) -> None:
    """Start vLLM and the REST API, and serve until Ctrl-C.

    Every option can also be given as an environment variable: OPENBOOK_PORT=8010 and so on.
    """
    from pydantic import ValidationError

    from app.settings import Settings

    try:
        settings = Settings(**{name: value for name, value in options.items() if value not in (None, ())})
    except ValidationError as error:
        problems = "; ".join(f"OPENBOOK_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        raise UsageError(f"The settings are not valid: {problems}.") from error
    # The engine has the cores; searching for one question gains nothing from more threads and would take them away.
    # The numeric libraries read this when they are imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from app.server import serve as run

    run(settings)


@click.command()
@click.argument("question")
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, envvar="OPENBOOK_URL", help="A running `openbook serve`."
)
@click.option(
    "--arm", type=click.Choice(list(ARMS)), default="rag", show_default=True, help="With or without documents."
)
@click.option("--top-k", type=click.IntRange(1, 50), help="How many passages to read.")
@click.option("--retriever", type=click.Choice(["dense", "lexical", "hybrid"]), help="How passages are found.")
@click.option("--filter", "filter_", metavar="JSON", help="Which passages, written as for `openbook search`.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Answer from what held on that day.")
@click.option("--collection", default="default", show_default=True, help="Which documents to read.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
def ask(question: str, *, url: str, arm: str, collection: str, as_json: bool, **search: Any) -> None:
    """Ask a running server a QUESTION; print the answer with its sources."""
    from app.asking import ask_server, describe

    request = {"question": question, "collection": collection, **ARMS[arm], **_search(**search)}
    answer = ask_server(url, request)
    click.echo(answer.model_dump_json(indent=2) if as_json else describe(answer))


def _search(*, filter_: str | None, as_of: datetime | None, **options: Any) -> dict[str, Any]:
    """Return what the options say of the search, for the request."""
    given = {name: value for name, value in options.items() if value is not None}
    if as_of is not None:
        given["as_of"] = as_of.date().isoformat()
    if filter_ is not None:
        try:
            given["filter"] = json.loads(filter_)
        except json.JSONDecodeError as error:
            raise UsageError(f'--filter is no JSON ({error}). Write it like \'{{"team": "harbour"}}\'.') from error
    return given
