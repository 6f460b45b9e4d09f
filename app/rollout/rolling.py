"""The steps of a rolling update: replica after replica of the new version, and back where one of them fails.

New replicas are started beside the old ones as far as memory allows; where it does not, an old one first finishes what
it has and makes room. Each new one is probed before it answers anybody. The default moves to the new version, at once
and as a whole, when it has as many replicas as the old one has left: the questions of one moment are answered by one
version. What the old version has begun, it finishes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import terminal
from app.errors import AppError, NotEnoughMemory, UndoFailed
from app.pools import Pool, Pools
from app.serving.fleet import Fleet
from app.serving.memory import GIB, free_bytes, needed_bytes
from app.serving.replica import Replica
from app.serving.replica_set import ReplicaSet

POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Side:
    """A version: its replicas, and the pool that they are."""

    replicas: ReplicaSet
    pool: Pool


class Rolling:
    """One update. `run` either completes it or leaves what was before."""

    def __init__(
        self,
        pools: Pools,
        fleet: Fleet,
        new: Side,
        old: Side | None,
        verify: Callable[[Replica, float], Awaitable[None]],
        *,
        drain_seconds: float,
    ) -> None:
        """Take both sides.

        Args:
            pools: The table in which the default moves.
            fleet: The machine.
            new: The new version, without replicas yet.
            old: What makes room for it; None where the old version stays, or runs elsewhere.
            verify: Probes a new replica, whose start took so many seconds; raises where it is not as it must be.
            drain_seconds: How long an old replica may take to finish what it has.
        """
        self._pools, self._fleet, self._new, self._old = pools, fleet, new, old
        self._verify = verify
        self._drain_seconds = drain_seconds
        self._before = pools.default
        self._moved = False

    async def run(self) -> None:
        """Update.

        Raises:
            UndoFailed: It could not be done, and not be undone as a whole.
            AppError: It could not be done, and what answered before answers again.
        """
        try:
            await self._start_new()
            await self._retire_old()
        except asyncio.CancelledError:
            # The server ends, and would wait for the thread that waits for a replica to start.
            await asyncio.to_thread(self._new.replicas.stop)
            raise
        except AppError as error:
            try:
                await self._undo()
            except AppError as worse:
                raise UndoFailed(f"{error} And going back failed: {worse}") from worse
            raise

    async def _start_new(self) -> None:
        new = self._new.replicas
        while len(new.replicas) < self._fleet.replicas:
            wanted = self._fleet.replicas - len(new.replicas)
            batch = min(self._fleet.room(new.model), wanted)
            if batch == 0:
                await self._make_room()
                batch = 1
            await self._start(batch)
            if not self._moved and len(new.replicas) >= self._old_count:
                await self._move()

    async def _start(self, count: int) -> None:
        new, started = self._new.replicas, time.monotonic()
        old_slots = [replica.slot for replica in self._old.replicas.replicas] if self._old else []
        replicas = [new.start(self._fleet.free_slot(old_slots)) for _ in range(count)]
        await asyncio.to_thread(new.wait_until_started)
        seconds = time.monotonic() - started
        for replica in replicas:
            await self._verify(replica, seconds)
        await asyncio.to_thread(new.admit)

    @property
    def _old_count(self) -> int:
        return len(self._old.replicas.replicas) if self._old else 0

    async def _make_room(self) -> None:
        """End one replica of the old version, but not the last that answers."""
        if self._old is None or self._old_count <= (0 if self._moved else 1):
            needed = needed_bytes(self._new.replicas.model, self._fleet.options.kv_cache_gib)
            raise NotEnoughMemory(
                f"A replica of {self._new.replicas.model.label} takes about {needed / GIB:.1f} GiB beside what runs, "
                f"{free_bytes() / GIB:.1f} GiB are free, and no replica can be spared. Free some, or serve it with "
                "`openbook serve --model` after a restart."
            )
        await self._retire(self._old, self._old.replicas.replicas[0])

    async def _retire(self, side: Side, replica: Replica) -> None:
        if len(side.replicas.replicas) == 1:
            await self._until_free(side.pool)
        await asyncio.to_thread(side.replicas.retire, replica, self._drain_seconds)

    async def _move(self) -> None:
        """Let the new version answer, and no new question come to the old one."""
        # The tokenizer is read in a thread: no answer waits for it.
        await asyncio.to_thread(self._pools.add, self._new.pool)
        self._pools.promote(self._new.pool.served[0].name)
        if self._old is not None:
            self._pools.remove(self._old.pool)
        self._moved = True
        terminal.note(f"{self._pools.default} answers now.")

    async def _retire_old(self) -> None:
        if self._old is None:
            return
        await self._until_free(self._old.pool)
        for replica in self._old.replicas.replicas:
            await self._retire(self._old, replica)
        await self._end(self._old)

    async def _end(self, side: Side) -> None:
        await asyncio.to_thread(side.replicas.stop)
        self._fleet.sets.remove(side.replicas)
        await side.pool.engine.close()

    async def _until_free(self, pool: Pool) -> None:
        """Wait until every question that was begun with a pool is answered, or has had its time."""
        deadline = time.monotonic() + self._drain_seconds
        while pool.leases and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)

    async def _undo(self) -> None:
        """Let the old version answer again, with as many replicas as it had, and end the new one."""
        old, new = self._old, self._new
        if old is not None and not old.replicas.replicas:
            await self._restart_old(1)
        if self._moved:
            if old is not None:
                await asyncio.to_thread(self._pools.add, old.pool)
            self._pools.promote(self._before)
            self._pools.remove(new.pool)
            await self._until_free(new.pool)
        await self._end(new)
        if old is not None:
            await self._restart_old(self._fleet.replicas - len(old.replicas.replicas))

    async def _restart_old(self, count: int) -> None:
        assert self._old is not None
        for _ in range(count):
            self._old.replicas.start(self._fleet.free_slot([]))
            await asyncio.to_thread(self._old.replicas.admit)
