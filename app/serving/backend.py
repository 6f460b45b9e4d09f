"""Which engine a server uses: a vLLM of its own, started and supervised, or one that runs elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import terminal
from app.base_checkpoint import ensure_base_checkpoint
from app.checkpoints import Model, resolve
from app.engine import Engine, ServedModel
from app.errors import ModelNotFound
from app.pools import Pool
from app.serving.command import EngineOptions, bounded_model_len
from app.serving.engine_process import EngineProcess, free_port
from app.serving.supervisor import Supervisor
from app.settings import Settings
from corpus.home import checkpoints_home, logs_home


@dataclass(frozen=True)
class Backend:
    """An engine, and what it serves, the default model first."""

    url: str
    served: tuple[ServedModel, ...]
    supervisor: Supervisor | None = None
    """Of an engine of its own."""

    def problem(self) -> str | None:
        """Say why the engine cannot answer; None where nothing is known against it."""
        return self.supervisor.problem if self.supervisor else None

    def pools(self, settings: Settings) -> tuple[Pool, ...]:
        """Return the one pool of this engine."""
        engine = Engine(self.url, settings.engine_timeout_s, connections=settings.max_in_flight + 4)
        return (Pool(self.served[0].name, engine, self.served, self.problem),)

    @contextmanager
    def running(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> Iterator[None]:
        """Have the engine run: starting when this is entered, gone when it is left.

        Args:
            on_ready: Called when the engine answers.
            on_failure: Called when it could not be started; leaving the context then raises.

        Raises:
            EngineFailed: The engine could not be started.
        """
        if self.supervisor is None:
            on_ready()
            yield
            return
        try:
            self.supervisor.start(on_ready, on_failure)
            yield
        finally:
            self.supervisor.stop()
        if self.supervisor.failure is not None:
            raise self.supervisor.failure


def choose_backend(settings: Settings) -> Backend:
    """Return the engine that the settings ask for. One of its own is not started yet; the base checkpoint is made.

    Raises:
        ModelNotFound: There is no such model, or the engine elsewhere does not serve it.
        EngineUnreachable, EngineRefused: Nothing fit to be an engine answers at `engine_url`.
        BaseCheckpointFailed: The default model could not be unpacked.
    """
    return _elsewhere(settings.engine_url, settings.model) if settings.engine_url else _own(settings)


def _own(settings: Settings) -> Backend:
    model = _model(settings.model)
    options = EngineOptions(
        port=settings.engine_port or free_port(),
        max_model_len=settings.max_model_len,
        kv_cache_gib=settings.kv_cache_gib,
        compile_model=settings.compile_model,
        preload_openmp=settings.preload_openmp,
        extra=settings.engine_args,
    )
    served = ServedModel(model.label, model.location, bounded_model_len(model, settings.max_model_len))
    supervisor = Supervisor(lambda: EngineProcess(model, options, _log_path(model, options.port)))
    return Backend(options.url, (served,), supervisor)


def _model(name: str | None) -> Model:
    registry = checkpoints_home()
    return resolve(str(ensure_base_checkpoint(registry)) if name is None else name, registry)


def _log_path(model: Model, port: int) -> Path:
    """Return a log file of its own for each start."""
    label = model.label.replace("/", "--")
    return logs_home() / f"vllm-{label}-{port}-{time.strftime('%Y%m%d-%H%M%S')}.log"


def _elsewhere(url: str, wanted: str | None) -> Backend:
    async def ask() -> tuple[str, tuple[ServedModel, ...]]:
        engine = Engine(url, timeout_s=10.0, connections=1)
        try:
            return engine.url, await engine.models()
        finally:
            await engine.close()

    engine_url, served = asyncio.run(ask())
    return Backend(engine_url, _default_first(served, wanted))


def _default_first(served: Sequence[ServedModel], wanted: str | None) -> tuple[ServedModel, ...]:
    names = [model.name for model in served]
    if wanted is not None and wanted not in names:
        hint = terminal.did_you_mean(wanted, names)
        raise ModelNotFound(f"The engine does not serve {wanted!r}.{hint} It serves: {', '.join(names)}.")
    return tuple(sorted(served, key=lambda model: model.name != (wanted or names[0])))
