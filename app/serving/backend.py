"""Where a server's checkpoints are served: by vLLM servers of its own, and by engines that run elsewhere."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import terminal
from app.base_checkpoint import ensure_base_checkpoint
from app.checkpoints import Model, resolve
from app.engine import Engine, ServedModel
from app.errors import ModelNotFound
from app.pools import Pool
from app.rollout.records import Promotion, Records
from app.serving.command import EngineOptions, runs_on_cpu
from app.serving.fleet import Fleet, Served, plan_fleet
from app.serving.replica_set import ReplicaSet
from app.settings import Settings
from app.tracing import endpoint_of
from corpus.errors import UsageError
from corpus.home import checkpoints_home, openbook_home

FOR_STARTED_ENGINES = ("replicas", "engine_port", "kv_cache_gib", "compile_model", "engine_args")
"""Settings that do nothing for an engine that runs elsewhere."""


@dataclass(frozen=True)
class Backend:
    """The pools of a server, the default first."""

    pools: tuple[Pool, ...]
    fleet: Fleet | None
    """Those of its own."""
    configured: str
    """The default as the settings name it, whatever was promoted since."""

    @contextmanager
    def running(self, on_ready: Callable[[], None], on_failure: Callable[[], None]) -> Iterator[None]:
        """Have the engines run. See `Fleet.running`."""
        if self.fleet is None:
            on_ready()
            yield
            return
        with self.fleet.running(on_ready, on_failure):
            yield


def choose_backend(settings: Settings) -> Backend:
    """Return the engines that the settings ask for. Those of its own are not started; the base checkpoint is made.

    Raises:
        ModelNotFound: There is no such model, or the engines elsewhere do not serve it.
        EngineUnreachable, EngineRefused: Nothing fit to be an engine answers at an `engine_url`.
        BaseCheckpointFailed: The default model could not be unpacked.
        TooManyReplicas, NotEnoughMemory: This machine is too small for that.
        UsageError: The settings speak of vLLM servers to start, and none is to be started.
    """
    elsewhere = [_elsewhere(url, settings) for url in settings.engine_url]
    remote = {model.name for pool in elsewhere for model in pool.served}
    wanted = [name if name in remote else find_model(name, remote) for name in _wanted(settings, elsewhere)]
    known = {each.label: each for each in wanted if isinstance(each, Model)}
    configured, *others = (each if isinstance(each, str) else each.label for each in wanted)
    labels = after_promotion(configured, others, Records(openbook_home()).promotion(configured))
    _require_served(settings.routing_checkpoint, {*labels, *remote})
    models = [known.get(label) or find_model(label, remote) for label in labels if label not in remote]
    own = group_adapters(models, runs_on_cpu())
    if not own:
        _refuse_what_would_do_nothing(settings)
    fleet = plan_fleet(own, engine_options(settings), settings.replicas, settings.engine_port) if own else None
    pools = [*elsewhere, *(pool_of_set(made, settings) for made in fleet.sets)] if fleet else elsewhere
    return Backend(_default_first(pools, labels[0]), fleet, configured)


def after_promotion(configured: str, others: Sequence[str], promotion: Promotion | None) -> tuple[str, ...]:
    """Return what is to be served, the default first, where a checkpoint was promoted over the configured one."""
    if promotion is None:
        return (configured, *others)
    kept = others if promotion.retired else (configured, *others)
    return tuple(dict.fromkeys((promotion.serving, *kept)))


def _require_served(checkpoint: str | None, served: Collection[str]) -> None:
    if checkpoint is not None and checkpoint not in served:
        raise ModelNotFound(
            f"--routing-checkpoint {checkpoint!r} is not served.{terminal.did_you_mean(checkpoint, served)} Add "
            f"--model {checkpoint}, or name one of: {', '.join(sorted(served))}."
        )


def _refuse_what_would_do_nothing(settings: Settings) -> None:
    values = {name: getattr(settings, name) for name in FOR_STARTED_ENGINES}
    idle = {name: value for name, value in values.items() if value != Settings.model_fields[name].default}
    if idle:
        named = ", ".join(f"OPENBOOK_{name.upper()}={_shown(value)}" for name, value in idle.items())
        raise UsageError(
            f"{named} is for vLLM servers that are started here, and every model asked for runs at --engine-url. Set "
            "it where those engines are started, or name with --model what is to be served from here."
        )


def _shown(value: object) -> object:
    return shlex.join(value) if isinstance(value, tuple) else value


def _wanted(settings: Settings, elsewhere: Sequence[Pool]) -> tuple[str, ...]:
    if settings.model:
        return settings.model
    return (elsewhere[0].served[0].name if elsewhere else str(ensure_base_checkpoint(checkpoints_home())),)


def engine_options(settings: Settings) -> EngineOptions:
    """Return what every vLLM of a server is started with."""
    return EngineOptions(
        max_model_len=settings.max_model_len,
        kv_cache_gib=settings.kv_cache_gib,
        compile_model=settings.compile_model,
        preload_openmp=settings.preload_openmp,
        otlp_endpoint=endpoint_of(settings.otlp_endpoint),
        extra=settings.engine_args,
    )


def find_model(name: str, elsewhere: set[str]) -> Model:
    """Return the model of this machine that a name means.

    Raises:
        ModelNotFound: There is none; the message names also what the engines elsewhere serve.
    """
    try:
        return resolve(name, checkpoints_home())
    except ModelNotFound as error:
        if not elsewhere:
            raise
        hint = terminal.did_you_mean(name, elsewhere)
        raise ModelNotFound(
            f"The engine does not serve {name!r}.{hint} It serves: {', '.join(sorted(elsewhere))}. {error}"
        ) from error


def group_adapters(models: Sequence[Model], on_cpu: bool) -> tuple[Served, ...]:
    """Return the models to be served, each with the adapters over it.

    Raises:
        ModelNotFound: An adapter has no base among them, or there is no GPU to apply it on.
    """
    adapters = [model for model in models if model.adapter_base is not None]
    if adapters and on_cpu:
        raise ModelNotFound(
            f"{adapters[0].label} is an adapter. On a CPU a server that applies adapters answers every request seven "
            "times more slowly; merge it into its base, as `openbook finetune` does, and serve the merged checkpoint."
        )
    bases = [model for model in models if model.adapter_base is None]
    return tuple(Served(base, tuple(each for each in adapters if _base_of(each, bases) is base)) for base in bases)


def _base_of(adapter: Model, bases: Sequence[Model]) -> Model:
    for base in bases:
        if adapter.adapter_base in (base.label, base.location, ""):
            return base
    raise ModelNotFound(
        f"{adapter.label} is an adapter over {adapter.adapter_base}, which is not served. Add --model "
        f"{adapter.adapter_base}."
    )


def pool_of_set(made: ReplicaSet, settings: Settings) -> Pool:
    """Return the pool that replicas of this process are."""
    return Pool(made.model.label, engine_at(made.url, settings), made.served, made.problem, made.replica_urls)


def engine_at(url: str, settings: Settings) -> Engine:
    """Return a client with as many connections as there may be questions."""
    return Engine(url, settings.engine_timeout_s, connections=settings.max_in_flight + 4)


def _elsewhere(url: str, settings: Settings) -> Pool:
    async def ask() -> tuple[ServedModel, ...]:
        engine = Engine(url, timeout_s=10.0, connections=1)
        try:
            return await engine.models()
        finally:
            await engine.close()

    served = asyncio.run(ask())
    engine = engine_at(url, settings)
    return Pool(engine.url, engine, served)


def _default_first(pools: Sequence[Pool], wanted: str) -> tuple[Pool, ...]:
    """Order pools, and the models of each, so that the wanted one comes first; it may be a label, a folder or an id."""
    for pool in pools:
        chosen = [model for model in pool.served if wanted in (model.name, model.root)]
        if chosen:
            rest = [model for model in pool.served if model is not chosen[0]]
            pool.served = (chosen[0], *rest)
            return (pool, *(each for each in pools if each is not pool))
    return tuple(pools)
