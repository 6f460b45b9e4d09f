"""The table of what is served: checkpoint → pool → engine, and which checkpoint answers where a request names none.

A pool is one or more replicas behind one URL. The table changes while the server runs: a rollout adds the pool of a new
version, moves the default to it, and takes the old pool out. What is being answered goes on with the pool that it
began with, so a pool may only be ended when nobody holds a lease of it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import terminal
from app.engine import Engine, ServedModel
from app.errors import CheckpointNotServed, EngineFailed, EngineRefused, EngineUnreachable
from app.prompting.assemble import Assembler
from app.routing import Choice, Inquiry, Routing
from app.routing.fixed import Fixed
from app.served import weights_hash_of


def nothing_known() -> str | None:
    """Say nothing against an engine that somebody else runs."""
    return None


@dataclass(eq=False)
class Pool:
    """Replicas behind one URL, which serve the same checkpoints."""

    name: str
    engine: Engine
    served: tuple[ServedModel, ...]
    problem: Callable[[], str | None] = nothing_known
    """Says why none of them can answer; None from it means that nothing is known against them."""
    replica_urls: Callable[[], tuple[str, ...]] = tuple
    """Gives the addresses of its replicas; none are known of an engine that somebody else runs."""
    leases: int = field(default=0, init=False)
    """Questions that are being answered with it."""

    @property
    def measured_urls(self) -> tuple[str, ...]:
        """What has metrics to show: each replica, or what answers at its one URL."""
        return self.replica_urls() or (self.engine.url,)


@dataclass(frozen=True)
class Lease:
    """What answers one question, held until the answer is there."""

    checkpoint: str
    pool: str
    engine: Engine
    assembler: Assembler
    weights_hash: str | None
    """SHA-256 of the checkpoint's weights, where its card is at hand."""
    choice: Choice


@dataclass(frozen=True)
class _Entry:
    pool: Pool
    model: ServedModel
    assembler: Assembler
    weights_hash: str | None


class Pools:
    """The pools of a server. Changes replace the table as a whole, so that it may be read from any thread."""

    def __init__(
        self, pools: Sequence[Pool], assembler_for: Callable[[ServedModel], Assembler], routing: Routing | None = None
    ) -> None:
        """Take the pools, the default first, what makes the writer of a model's prompts, and the routing policy."""
        self._assembler_for = assembler_for
        self._routing = routing or Fixed()
        self._table: dict[str, _Entry] = {}
        self.answered = self.failed = 0
        """Questions that were answered, and those that failed because of an engine."""
        for pool in pools:
            self.add(pool)
        self._default = next(iter(self._table))

    @property
    def default(self) -> str:
        """The checkpoint that answers where a request names none and the routing policy has no wish."""
        return self._default

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """All that are served, the default first."""
        return (self._default, *(name for name in self._table if name != self._default))

    @property
    def pools(self) -> tuple[Pool, ...]:
        """All pools, the default's first."""
        return tuple(dict.fromkeys(self._table[name].pool for name in self.checkpoints))

    def pool_of(self, checkpoint: str | None = None) -> Pool:
        """Return the pool that serves a checkpoint; without one, the default's.

        Raises:
            CheckpointNotServed: None does.
        """
        return self._entry(checkpoint).pool

    def engine_for(self, checkpoint: str | None = None) -> Engine:
        """Return the engine that serves a checkpoint. Raises as `pool_of` does."""
        return self._entry(checkpoint).pool.engine

    def model(self, checkpoint: str | None = None) -> ServedModel:
        """Return what the engine says of a checkpoint. Raises as `pool_of` does."""
        return self._entry(checkpoint).model

    def assembler_of(self, checkpoint: str | None = None) -> Assembler:
        """Return what writes the prompts for a checkpoint. Raises as `pool_of` does."""
        return self._entry(checkpoint).assembler

    def problem(self, checkpoint: str | None = None) -> str | None:
        """Say why a checkpoint cannot answer; None where nothing is known against it. Raises as `pool_of` does."""
        return self.pool_of(checkpoint).problem()

    def choose(self, wanted: str | None, inquiry: Inquiry) -> Choice:
        """Return which checkpoint answers, and why: the one that the request names, or what the policy says.

        Raises:
            CheckpointNotServed: The request, or the policy, names one that is not served.
        """
        choice = (
            Choice(wanted, "the request names it")
            if wanted is not None
            else self._routing.choose(inquiry, self.checkpoints)
        )
        self._entry(choice.checkpoint)
        return choice

    @contextmanager
    def lease(self, choice: Choice) -> Iterator[Lease]:
        """Hold the pool of the chosen checkpoint, so that a rollout does not end it before the answer is there.

        Raises:
            CheckpointNotServed: It is not served.
            EngineFailed: It is, but cannot answer now.
        """
        entry = self._entry(choice.checkpoint)
        if problem := entry.pool.problem():
            self.failed += 1
            raise EngineFailed(problem)
        entry.pool.leases += 1
        try:
            yield Lease(
                entry.model.name, entry.pool.name, entry.pool.engine, entry.assembler, entry.weights_hash, choice
            )
        except (EngineFailed, EngineUnreachable, EngineRefused):
            self.failed += 1
            raise
        else:
            self.answered += 1
        finally:
            entry.pool.leases -= 1

    def add(self, pool: Pool) -> None:
        """Serve the checkpoints of a pool too; those that another one serves already stay with it."""
        added = {
            model.name: _Entry(pool, model, self._assembler_for(model), weights_hash_of(model)) for model in pool.served
        }
        self._table = {**added, **self._table} if not self._table else {**self._table, **_missing(added, self._table)}

    def remove(self, pool: Pool) -> None:
        """Take a pool out of service. Its leases go on.

        Raises:
            ValueError: It serves the default.
        """
        if self._table[self._default].pool is pool:
            raise ValueError(f"the pool {pool.name!r} serves the default checkpoint {self._default!r}")
        self._table = {name: entry for name, entry in self._table.items() if entry.pool is not pool}

    def promote(self, checkpoint: str) -> None:
        """Make a checkpoint that is served the default. Raises as `pool_of` does."""
        self._entry(checkpoint)
        self._default = checkpoint

    async def close(self) -> None:
        """Close the connections of all pools."""
        for pool in self.pools:
            await pool.engine.close()

    def _entry(self, checkpoint: str | None) -> _Entry:
        wanted = self._default if checkpoint is None else checkpoint
        if (entry := self._table.get(wanted)) is None:
            raise CheckpointNotServed(
                f"Checkpoint {wanted!r} is not served here.{terminal.did_you_mean(wanted, self._table)} "
                f"Served: {', '.join(self.checkpoints)}. Add `--model {wanted}` to `openbook serve`."
            )
        return entry


def _missing(added: dict[str, _Entry], table: dict[str, _Entry]) -> dict[str, _Entry]:
    return {name: entry for name, entry in added.items() if name not in table}
