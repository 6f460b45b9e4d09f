"""All vLLM servers that this process runs: the pools, and the parts of the machine that their replicas run on."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import terminal
from app.checkpoints import Model
from app.errors import EngineFailed
from app.serving.command import EngineOptions, runs_on_cpu
from app.serving.engine_process import engine_process
from app.serving.memory import free_bytes, needed_bytes, require_memory
from app.serving.replica import Launch
from app.serving.replica_set import ReplicaSet
from app.serving.slots import Slot, slots_of_machine
from corpus.home import logs_home


def memory_room(model: Model, options: EngineOptions) -> int:
    """Return how many more replicas of a model fit into memory; none on a GPU, which the ones that run fill."""
    return free_bytes() // needed_bytes(model, options.kv_cache_gib) if runs_on_cpu() else 0


@dataclass(frozen=True)
class Served:
    """A model to be served, and on a GPU the adapters over it."""

    model: Model
    adapters: tuple[Model, ...] = ()


@dataclass
class Fleet:
    """The pools of this machine, and how their replicas are started."""

    options: EngineOptions
    replicas: int
    """Of each pool."""
    launch: Launch = engine_process
    sets: list[ReplicaSet] = field(default_factory=list)
    slots: tuple[Slot, ...] = field(default=(), init=False)
    """The parts of the machine, once it runs."""
    room_for: Callable[[Model, EngineOptions], int] = memory_room
    """How many more replicas of a model this machine has memory for."""
    failure: EngineFailed | None = field(default=None, init=False)
    """Why the first start failed."""
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)

    def add(self, served: Served, port: int = 0) -> ReplicaSet:
        """Add a pool, not started yet, and return it."""
        options = replace(self.options, port=port, adapters=served.adapters)
        made = ReplicaSet(served.model, options, self.replicas > 1, log_path, launch=self.launch)
        self.sets.append(made)
        return made

    def room(self, model: Model) -> int:
        """Return how many more replicas of a model there is memory for."""
        return self.room_for(model, self.options)

    def free_slot(self, preferred: Sequence[Slot]) -> Slot:
        """Return the slot with the fewest replicas; among those with as few, one that is preferred."""
        used = Counter(replica.slot for made in self.sets for replica in made.replicas)
        return min(self.slots, key=lambda slot: (used[slot], slot not in preferred, slot.number))

    @contextmanager
    def running(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> Iterator[None]:
        """Have all pools run: starting when this is entered, gone when it is left.

        Args:
            on_ready: Called when all replicas answer.
            on_failure: Called when one could not be started; leaving the context then raises.

        Raises:
            EngineFailed: One could not be started.
        """
        starter = threading.Thread(target=self._start, args=(on_ready, on_failure), name="fleet-start", daemon=True)
        self.slots = slots_of_machine(self.replicas * len(self.sets), runs_on_cpu())
        try:
            for number, made in enumerate(self.sets):
                for slot in self.slots[number * self.replicas : (number + 1) * self.replicas]:
                    made.start(slot)
            starter.start()
            yield
        finally:
            self.stop()
            if starter.ident is not None:
                starter.join()
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """End every pool; one that was still starting has not failed."""
        self._stopping.set()
        stoppers = [threading.Thread(target=made.stop) for made in list(self.sets)]
        for stopper in stoppers:
            stopper.start()
        for stopper in stoppers:
            stopper.join()

    def _start(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> None:
        names = ", ".join(made.model.label for made in self.sets)
        count = "" if self.replicas == 1 else f"{self.replicas} replicas of "
        starting = tuple(self.sets)
        try:
            with terminal.waiting(f"Starting vLLM with {count}{names}", self.options.expected_seconds):
                for made in starting:
                    made.admit()
        except EngineFailed as error:
            if not self._stopping.is_set():
                self.failure = error
                on_failure()
            return
        on_ready()


def plan_fleet(served: Sequence[Served], options: EngineOptions, replicas: int, port: int = 0) -> Fleet:
    """Return the fleet that serves these models, not started yet; the port is that of the first pool.

    Raises:
        TooManyReplicas: There are not enough cores or GPUs.
        NotEnoughMemory: They do not fit into this machine's memory.
    """
    slots_of_machine(replicas * len(served), runs_on_cpu())
    if runs_on_cpu():
        require_memory([each.model for each in served], replicas, options.kv_cache_gib)
    fleet = Fleet(options, replicas)
    for number, each in enumerate(served):
        fleet.add(each, port if number == 0 else 0)
    return fleet


def log_path(name: str, port: int) -> Path:
    """Return a log file of its own for each start."""
    return logs_home() / f"{name.replace('/', '--')}-{port}-{time.strftime('%Y%m%d-%H%M%S')}.log"
