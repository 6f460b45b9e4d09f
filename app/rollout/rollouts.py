"""The rollouts of a running server: begins one at a time, follows it, and remembers what was promoted."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import terminal
from app.engine import ServedModel
from app.errors import AppError, CheckpointDamaged, EngineFailed, RolloutRefused, UndoFailed
from app.pools import Pool, Pools
from app.rollout.memory_use import MemoryUse
from app.rollout.probing import Before, ask_before, compare
from app.rollout.records import Promotion, Records
from app.rollout.rolling import Rolling, Side
from app.schemas.rollout import Rollout, RolloutRequest, Verification
from app.served import weights_hash_of
from app.serving.backend import Backend, engine_at, find_model, pool_of_set
from app.serving.fleet import Served
from app.serving.replica import Replica
from app.settings import Settings
from corpus.digests import file_sha256
from corpus.home import openbook_home


class Rollouts:
    """Promotes checkpoints. All methods belong to the event loop of the app."""

    def __init__(self, pools: Pools, backend: Backend, settings: Settings, records: Records) -> None:
        """Take the table, the machine, and where records are kept."""
        self._pools, self._backend, self._settings, self._records = pools, backend, settings, records
        self._task: asyncio.Task[None] | None = None
        self._current: Rollout | None = None
        records.close_interrupted()

    def get(self, rollout_id: str) -> Rollout:
        """Return a rollout, as it is at this moment.

        Raises:
            RolloutNotFound: There is none of that id.
        """
        if self._current is not None and self._current.id == rollout_id:
            return self._current
        return self._records.read(rollout_id)

    def all(self) -> tuple[Rollout, ...]:
        """Return all, the latest first."""
        current = self._current
        rest = tuple(each for each in self._records.all() if current is None or each.id != current.id)
        return rest if current is None else (current, *rest)

    def promote(self, label: str, request: RolloutRequest) -> Rollout:
        """Begin to make a checkpoint the default.

        Raises:
            RolloutRefused: Another rollout runs, or the checkpoint is the default already.
            ModelNotFound: There is no such checkpoint.
        """
        if self._task is not None and not self._task.done():
            assert self._current is not None
            raise RolloutRefused(
                f"The rollout {self._current.id} of {self._current.checkpoint} is under way. Wait until it is done."
            )
        if label == self._pools.default:
            raise RolloutRefused(f"{label} is what is served already.")
        if label not in self._pools.checkpoints:
            find_model(label, set(self._pools.checkpoints))
        now = datetime.now(UTC)
        identity = f"{now:%Y%m%d-%H%M%S-%f}"
        self._current = Rollout(id=identity, checkpoint=label, previous=self._pools.default, started=now)
        self._records.write(self._current)
        self._task = asyncio.get_running_loop().create_task(self._run(request))
        return self._current

    def rollback(self, request: RolloutRequest) -> Rollout:
        """Begin to go back to what was served before the last promotion. Raises as `promote` does.

        Raises:
            RolloutRefused: Nothing was promoted, too.
        """
        promotion = self._records.promotion(self._backend.configured)
        if promotion is None:
            raise RolloutRefused("There is nothing to go back to: no checkpoint was promoted on this server.")
        return self.promote(promotion.previous, request)

    async def close(self) -> None:
        """End what is under way; the server ends."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, request: RolloutRequest) -> None:
        started, answered, failed = time.monotonic(), self._pools.answered, self._pools.failed
        outcome: dict[str, Any] = {"status": "failed", "detail": "The server ended before it was done."}
        with MemoryUse() as memory:
            try:
                outcome = await self._outcome(request)
            finally:
                self._update(
                    **outcome,
                    finished=datetime.now(UTC),
                    seconds=round(time.monotonic() - started, 3),
                    requests_served=self._pools.answered - answered,
                    requests_failed=self._pools.failed - failed,
                    memory_before_bytes=memory.before,
                    memory_peak_bytes=memory.peak,
                )
                assert self._current is not None
                self._records.write(self._current)
                terminal.note(f"Rollout of {self._current.checkpoint}: {self._current.status}. {self._current.detail}")

    async def _outcome(self, request: RolloutRequest) -> dict[str, Any]:
        assert self._current is not None
        label, previous = self._current.checkpoint, self._current.previous
        try:
            retired = await self._promote(label, request)
        except UndoFailed as error:
            return {"status": "failed", "detail": str(error)}
        except AppError as error:
            return {"status": "rolled_back", "detail": f"{previous} answers as before: {error}"}
        except Exception as error:
            return {"status": "failed", "detail": f"An unexpected error: {type(error).__name__}: {error}"}
        self._records.promote(self._backend.configured, Promotion(serving=label, previous=previous, retired=retired))
        return {"status": "done", "detail": f"{label} answers in the place of {previous}."}

    async def _promote(self, label: str, request: RolloutRequest) -> bool:
        """Make a checkpoint the default, and say whether the one before is no longer served."""
        previous = self._pools.default
        self._update(detail=f"{previous} is asked the probes.")
        before = await ask_before(self._pools.engine_for(), previous, request.probes)
        if label in self._pools.checkpoints:
            await self._verify_served(label, before)
            self._pools.promote(label)
            return False
        fleet = self._backend.fleet
        if fleet is None:
            raise EngineFailed(f"{label} is served by none of the engines elsewhere, and none is started here.")
        model = find_model(label, set())
        new = fleet.add(Served(model))
        side = Side(new, pool_of_set(new, self._settings))
        try:
            await self._check_weights(side.pool.served[0])
        except AppError:
            fleet.sets.remove(new)
            raise
        old = None if request.keep else self._side(self._pools.pool_of())

        async def verify(replica: Replica, seconds: float) -> None:
            await self._verify(replica.url, label, before, seconds)
            self._update(detail=f"{len(new.replicas)} of {fleet.replicas} replicas of {label} answer.")

        self._update(detail=f"Replicas of {label} are started.")
        await Rolling(self._pools, fleet, side, old, verify, drain_seconds=self._settings.deadline_s).run()
        return old is not None

    def _side(self, pool: Pool) -> Side | None:
        sets = self._backend.fleet.sets if self._backend.fleet else []
        return next((Side(made, pool) for made in sets if made.url == pool.engine.url), None)

    async def _check_weights(self, model: ServedModel) -> None:
        """Compare the weights on disk with their card, before they are loaded."""
        said = weights_hash_of(model)
        file = find_model(model.name, set()).folder
        weights = file / "model.safetensors" if file else None
        if said is None or weights is None or not weights.is_file():
            return
        found = await asyncio.to_thread(file_sha256, weights)
        if found != said:
            raise CheckpointDamaged(f"The SHA-256 of {weights} is {found}, and its checkpoint.json says {said}.")
        self._update(weights_hash=found)

    async def _verify_served(self, label: str, before: Before) -> None:
        """Probe a checkpoint that is served already."""
        model = self._pools.model(label)
        self._update(weights_hash=weights_hash_of(model))
        await self._verify(self._pools.engine_for(label).url, label, before, 0.0)

    async def _verify(self, url: str, label: str, before: Before, seconds: float) -> None:
        """Probe one replica under its own URL, and record what it said."""
        assert self._current is not None
        engine = engine_at(url, self._settings)
        same = self._current.weights_hash is not None and self._current.weights_hash == self._hash_before()
        try:
            compared = await compare(engine, label, before, same)
        finally:
            await engine.close()
        verification = Verification(
            replica=url,
            seconds_to_start=round(seconds, 3),
            noise=before.noise,
            difference=compared.difference,
            probes=compared.results,
        )
        self._update(replicas=(*self._current.replicas, verification))

    def _hash_before(self) -> str | None:
        """Return the hash of the weights that answered when the rollout began; None where they are not known here."""
        assert self._current is not None
        with suppress(AppError):
            return weights_hash_of(self._pools.model(self._current.previous))
        return None

    def _update(self, **values: Any) -> None:
        assert self._current is not None
        self._current = self._current.model_copy(update=values)


def rollouts_of(pools: Pools, backend: Backend | None, settings: Settings) -> Rollouts:
    """Return the rollouts of a server; without a backend, of engines that run elsewhere."""
    backend = backend or Backend(pools.pools, None, pools.default)
    return Rollouts(pools, backend, settings, Records(openbook_home()))
