"""One vLLM server of a pool: started, kept alive, and ended."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx

from app.checkpoints import Model
from app.errors import EngineFailed
from app.serving.command import EngineOptions
from app.serving.slots import Slot
from app.serving.supervisor import Process, Supervisor

UNDER_WAY = re.compile(r"^vllm:num_requests_(?:running|waiting)(?:\{.*\})? (\S+)$", re.MULTILINE)
IDLE_READINGS = 3
"""How many times in a row a replica must have nothing to do: a request may be on its way from the router."""
POLL_SECONDS = 0.1

Launch = Callable[[Model, EngineOptions, Path], Process]
"""Starts vLLM, printing into a log file."""


class Replica:
    """A supervised vLLM with one model on one slot."""

    def __init__(self, model: Model, options: EngineOptions, log: Callable[[str, int], Path], launch: Launch) -> None:
        """Take what to start: the model, the options with port and slot, and where its log goes."""
        self.model = model
        self.url = options.url
        self.slot: Slot = options.slot
        self.admitted = False
        """Whether it takes part; its pool says when."""
        self._supervisor = Supervisor(lambda: launch(model, options, log(f"vllm-{model.label}", options.port)))
        self._decided = threading.Event()

    @property
    def problem(self) -> str | None:
        """Why it does not answer; None while it does."""
        return self._supervisor.problem

    def start(self) -> None:
        """Start it in the background."""
        self._supervisor.start(self._decided.set, self._decided.set)

    def wait_until_ready(self) -> None:
        """Return when it answers for the first time.

        Raises:
            EngineFailed: It could not be started, or was stopped before.
        """
        self._decided.wait()
        if self._supervisor.failure is not None:
            raise self._supervisor.failure
        if self.problem is not None:
            raise EngineFailed(self.problem)

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until it has nothing to do, and say whether that came within `seconds`."""
        deadline, readings = time.monotonic() + seconds, 0
        while readings < IDLE_READINGS:
            if time.monotonic() > deadline:
                return False
            readings = readings + 1 if requests_under_way(self.url) == 0 else 0
            time.sleep(POLL_SECONDS)
        return True

    def stop(self) -> None:
        """End it; returns when its processes are gone."""
        self._supervisor.stop()
        self._decided.set()


def requests_under_way(url: str) -> int:
    """Return how many requests a vLLM works at or has waiting; 0 where it does not answer."""
    try:
        text = httpx.get(f"{url}/metrics", timeout=5.0, trust_env=False).text
    except httpx.HTTPError:
        return 0
    return int(sum(float(number) for number in UNDER_WAY.findall(text)))


def on_slot(options: EngineOptions, slot: Slot, port: int) -> EngineOptions:
    """Return the options of one replica."""
    return replace(options, slot=slot, port=port)
