"""Far more clients than the server may work for, with the real vLLM behind it."""

from __future__ import annotations

from pathlib import Path

from app.schemas.answer import AnswerRequest
from experiments.bench.overload import Plan, measure
from experiments.commands import OpenbookCommands
from tests.conftest import RunningServer

QUESTIONS = ("Who keeps the lighthouse?", "When does the ferry sail?", "What does the bakery sell?")


def test_under_overload_the_accepted_are_answered_and_the_others_refused_at_once(
    server: RunningServer, tmp_path: Path
) -> None:
    plan = Plan(clients=40, limit=4, requests=300, seconds=30.0, patience=0.2, baseline_requests=12)
    asked = [AnswerRequest(question=question) for question in QUESTIONS]
    commands = OpenbookCommands(server.engine_url, plan.server_environment())
    with commands.serve(None, server.store, None, tmp_path / "serve.log") as client:
        result = measure(client.url, asked, plan, tmp_path)
    assert result.sent == result.answered + result.refused >= 300
    assert result.failed == {}
    assert result.unanswered == 0
    # At least those that came while the first four were being answered.
    assert result.refused >= 36
    assert result.refused_without_retry_after == 0
    assert result.answered >= plan.limit
    # A refusal does no work: even the slowest comes before half of the answers.
    assert result.refusals is not None
    assert result.refusals.p50 < result.alone.p50
