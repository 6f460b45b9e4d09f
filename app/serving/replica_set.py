"""The replicas of one model behind one URL: vLLM servers, and vllm-router before them where there are several.

While it runs, the router is told every second which replicas answer: one that died takes no part until it is back.
Replicas come and go one by one, which is what a rolling update does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from app.checkpoints import Model
from app.engine import ServedModel
from app.errors import EngineFailed
from app.serving.command import EngineOptions, bounded_model_len
from app.serving.engine_process import engine_process, free_port
from app.serving.replica import Launch, Replica, on_slot
from app.serving.router import RouterAdmin, router_process
from app.serving.slots import Slot
from app.serving.supervisor import Process, Supervisor

RECONCILE_SECONDS = 1.0
ROUTER_PAUSES_SECONDS = (0.0, 1.0, 5.0, 15.0)

LogFile = Callable[[str, int], Path]
"""Names the log file of a process that listens on a port."""
LaunchRouter = Callable[[int, Sequence[str], Path], Process]
"""Starts a router on a port before the replicas at these URLs."""


class ReplicaSet:
    """A pool that this process runs itself."""

    def __init__(
        self,
        model: Model,
        options: EngineOptions,
        routed: bool,
        log: LogFile,
        *,
        launch: Launch = engine_process,
        launch_router: LaunchRouter = router_process,
    ) -> None:
        """Take what the replicas have in common; none is started.

        Args:
            model: What they serve.
            options: How; a port is that of the whole set.
            routed: Put a router in front, for several replicas; without it there can be one.
            log: Names log files.
            launch: Starts vLLM.
            launch_router: Starts the router.
        """
        self.model = model
        self.routed = routed
        self.replicas: tuple[Replica, ...] = ()
        self._options = options
        self._port = options.port or free_port()
        self._log, self._launch, self._launch_router = log, launch, launch_router
        self._router: Supervisor | None = None
        self._admin = RouterAdmin(self.url)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._reconciler: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where requests go."""
        return f"http://127.0.0.1:{self._port}"

    def replica_urls(self) -> tuple[str, ...]:
        """Return where each replica answers."""
        return tuple(replica.url for replica in self.replicas)

    @property
    def served(self) -> tuple[ServedModel, ...]:
        """What it serves: the model, and on a GPU the adapters over it."""
        length = bounded_model_len(self.model, self._options.max_model_len)
        models = (self.model, *self._options.adapters)
        return tuple(ServedModel(model.label, model.location, length) for model in models)

    @property
    def ready(self) -> tuple[Replica, ...]:
        """The replicas that take part and answer."""
        return tuple(replica for replica in self.replicas if replica.admitted and replica.problem is None)

    def problem(self) -> str | None:
        """Say why it cannot answer; None while a replica does."""
        if self.ready:
            return self._router.problem if self._router is not None else None
        return self.replicas[0].problem if self.replicas else "The pool has no replicas."

    def start(self, slot: Slot) -> Replica:
        """Start a replica in the background and return it; `admit` lets it take part."""
        port = free_port() if self.routed else self._port
        replica = Replica(self.model, on_slot(self._options, slot, port), self._log, self._launch)
        with self._lock:
            if self._stopping.is_set():
                raise EngineFailed("The pool was stopped.")
            self.replicas = (*self.replicas, replica)
            replica.start()
        return replica

    def wait_until_started(self) -> None:
        """Return when every new replica answers; none of them takes part yet.

        Raises:
            EngineFailed: One could not be started; it is left out.
        """
        for replica in [each for each in self.replicas if not each.admitted]:
            try:
                replica.wait_until_ready()
            except EngineFailed:
                self._forget(replica)
                raise

    def admit(self) -> None:
        """Let every new replica take part, once all of them answer.

        Raises:
            EngineFailed: One could not be started; it is left out. Or the router could not.
        """
        self.wait_until_started()
        for replica in self.replicas:
            replica.admitted = True
        if not self.routed:
            return
        if self._router is None:
            self._start_router()
        self._reconcile()

    def retire(self, replica: Replica, drain_seconds: float) -> None:
        """Send a replica no more requests, wait until what it has is done, and end it.

        Raises:
            EngineFailed: The router cannot be told, so that the replica stays.
        """
        with self._lock:
            others = tuple(each for each in self.replicas if each is not replica)
            if self.routed and others and self._router is not None:
                self._admin.remove(replica.url)
            self.replicas = others
        replica.wait_until_idle(drain_seconds)
        replica.stop()

    def stop(self) -> None:
        """End them all; safe at any moment, also during a start."""
        self._stopping.set()
        if self._router is not None:
            self._router.stop()
        with self._lock:
            replicas = self.replicas
        stoppers = [threading.Thread(target=replica.stop) for replica in replicas]
        for stopper in stoppers:
            stopper.start()
        for stopper in stoppers:
            stopper.join()
        if self._reconciler is not None:
            self._reconciler.join()

    def _forget(self, replica: Replica) -> None:
        with self._lock:
            self.replicas = tuple(each for each in self.replicas if each is not replica)
        replica.stop()

    def _start_router(self) -> None:
        decided = threading.Event()
        self._router = Supervisor(self._router_now, ROUTER_PAUSES_SECONDS)
        self._router.start(decided.set, decided.set)
        decided.wait()
        if self._router.failure is not None:
            raise self._router.failure
        self._reconciler = threading.Thread(target=self._keep_reconciled, name="replica-set", daemon=True)
        self._reconciler.start()

    def _router_now(self) -> Process:
        # It waits at its start for every replica that it is given, so it is given those that answer.
        while not self.ready and not self._stopping.is_set():
            time.sleep(RECONCILE_SECONDS)
        urls = [replica.url for replica in self.ready]
        return self._launch_router(self._port, urls, self._log(f"router-{self.model.label}", self._port))

    def _keep_reconciled(self) -> None:
        while not self._stopping.wait(RECONCILE_SECONDS):
            try:
                self._reconcile()
            except EngineFailed:
                # The router is gone or busy; its supervisor sees to that, and the next turn to this.
                continue

    def _reconcile(self) -> None:
        with self._lock:
            known = self._admin.replicas()
            wanted = frozenset(replica.url for replica in self.ready)
            for url in sorted(wanted - known):
                self._admin.add(url)
            # The last one stays: without any the router answers 503 in any case.
            for url in sorted(known - wanted) if wanted else ():
                self._admin.remove(url)
