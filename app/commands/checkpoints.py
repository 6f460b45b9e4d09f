"""The commands `openbook checkpoints …`: the versions in the registry, and which one a running server answers with."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from corpus.errors import UsageError

if TYPE_CHECKING:
    from app.schemas.rollout import Rollout, RolloutRequest

DEFAULT_URL = "http://127.0.0.1:8000"

url_option = click.option(
    "--url", default=DEFAULT_URL, show_default=True, envvar="OPENBOOK_URL", help="A running `openbook serve`."
)
probe_option = click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="QUESTION=TEXT",
    help="A question whose answer by the new version must contain TEXT; repeatable.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON for a program instead of text.")


@click.group()
def checkpoints() -> None:
    """List the checkpoints, and choose which one a running server answers with."""


@checkpoints.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the checkpoints in the registry."""
    from app.checkpoints import list_checkpoints
    from corpus.home import checkpoints_home

    found = list_checkpoints(checkpoints_home())
    if as_json:
        cards = [{**each.card.model_dump(mode="json"), "path": str(each.folder)} for each in found]
        click.echo(json.dumps(cards, indent=2))
        return
    if not found:
        click.echo(f"No checkpoints in {checkpoints_home()}. `openbook serve` makes the base checkpoint.", err=True)
    for each in found:
        origin = f"{each.card.recipe or 'made'} from {each.card.base or 'unknown'}"
        click.echo(f"{each.card.label}  {origin}  {each.card.created:%Y-%m-%d}  {each.folder}")


@checkpoints.command()
@click.argument("label", metavar="NAME@VERSION")
@url_option
@probe_option
@click.option("--keep", is_flag=True, help="Go on serving the version before under its own label.")
@json_option
def promote(label: str, *, url: str, probes: tuple[str, ...], keep: bool, as_json: bool) -> None:
    """Let a running server answer with NAME@VERSION from now on, without a failed request.

    New replicas are started beside those that answer, or where memory is short in their place one after the other.
    Each is probed: it must differ from the version before by more than that one differs from itself, and answer every
    --probe. Where one does not come up or fails a probe, all is left as it was. A server that is started again goes on
    with what was promoted.

    Exit codes: 0 promoted, 1 rolled back or failed, 2 refused, 5 no server.
    """
    from app.rollout.client import begin_promotion

    _follow(url, begin_promotion(url, label, _request(probes, keep)), as_json)


@checkpoints.command()
@url_option
@probe_option
@json_option
def rollback(*, url: str, probes: tuple[str, ...], as_json: bool) -> None:
    """Let a running server answer again with what it did before the last promotion; exit codes as for promote."""
    from app.rollout.client import begin_rollback

    _follow(url, begin_rollback(url, _request(probes, keep=False)), as_json)


def _request(probes: tuple[str, ...], keep: bool) -> RolloutRequest:
    from app.schemas.rollout import Probe, RolloutRequest

    pairs = [probe.rpartition("=") for probe in probes]
    for probe, (question, _, text) in zip(probes, pairs, strict=True):
        if not question.strip() or not text:
            raise UsageError(f"--probe {probe!r} must read QUESTION=TEXT, such as 'Who keeps the lighthouse?=Orla'.")
    return RolloutRequest(
        probes=tuple(Probe(question=question, contains=text) for question, _, text in pairs), keep=keep
    )


def _follow(url: str, rollout: Rollout, as_json: bool) -> None:
    from app.rollout.client import describe, follow

    ended = follow(url, rollout)
    click.echo(ended.model_dump_json(indent=2) if as_json else describe(ended))
    if ended.status != "done":
        sys.exit(1)
