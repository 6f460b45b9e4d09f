"""The client side of `openbook checkpoints promote`: asks a running server, and follows it to the end."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from app.errors import RolloutRefused, ServerUnreachable
from app.schemas.problem import Problem
from app.schemas.rollout import Rollout, RolloutRequest
from corpus.api_key import authorization
from terminal import duration, note

TIMEOUT_S = 30.0
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 60.0
"""How long a server may be too busy to say how far it is."""
MIB = 2**20


def begin_promotion(url: str, label: str, request: RolloutRequest) -> Rollout:
    """Ask a server to promote a checkpoint.

    Raises:
        ServerUnreachable: No Openbook server answers at `url`.
        RolloutRefused: The server says that it cannot be done.
    """
    return _send(url, "POST", f"/v1/checkpoints/{quote(label, safe='@/')}/promote", request)


def begin_rollback(url: str, request: RolloutRequest) -> Rollout:
    """Ask a server to go back. Raises as `begin_promotion` does."""
    return _send(url, "POST", "/v1/checkpoints/rollback", request)


def follow(url: str, rollout: Rollout) -> Rollout:
    """Return the rollout when it has ended, and say on the way what it does. Raises as `begin_promotion` does."""
    said, heard = "", time.monotonic()
    while rollout.status == "running":
        if rollout.detail != said:
            said = rollout.detail
            note(said)
        time.sleep(POLL_SECONDS)
        try:
            rollout, heard = _send(url, "GET", f"/v1/rollouts/{rollout.id}"), time.monotonic()
        except ServerUnreachable:
            if time.monotonic() - heard > PATIENCE_SECONDS:
                raise
    return rollout


def describe(rollout: Rollout) -> str:
    """Return a rollout as text: how it ended, and what it cost."""
    served = f"{rollout.requests_served} questions answered meanwhile, {rollout.requests_failed} failed"
    memory = f"{rollout.memory_before_bytes / MIB:,.0f} MiB before, {rollout.memory_peak_bytes / MIB:,.0f} MiB at most"
    lines = [
        f"{rollout.status.replace('_', ' ').capitalize()}: {rollout.detail}",
        f"  {duration(rollout.seconds)} in all; {served}",
        f"  memory of the engines: {memory}",
    ]
    for each in rollout.replicas:
        change = f"differs from the version before by {each.difference:.3g} nats (noise {each.noise:.2g})"
        lines.append(f"  replica {each.replica}: started in {duration(each.seconds_to_start)}, {change}")
    return "\n".join(lines)


def _send(url: str, method: str, path: str, request: RolloutRequest | None = None) -> Rollout:
    body: dict[str, Any] = {} if request is None else {"json": request.model_dump(mode="json")}
    try:
        reply = httpx.request(
            method, f"{url.rstrip('/')}{path}", headers=authorization(), timeout=TIMEOUT_S, trust_env=False, **body
        )
        if reply.is_success:
            return Rollout.model_validate_json(reply.content)
        problem = Problem.model_validate_json(reply.content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServerUnreachable(
            f"No server answers at {url}. Start one with `openbook serve`, or name a running one with --url."
        ) from error
    except ValidationError as error:
        raise ServerUnreachable(f"What answers at {url} is no Openbook server ({reply.status_code}).") from error
    raise RolloutRefused(problem.detail)
