"""What is published: that it is sound, that not too much waits for it, and that nothing else lies about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import partial

from indexer.doctor.findings import FIX, Finding, Patient, few
from indexer.errors import StoreError, VectorsDamaged
from indexer.maintenance.vacuum import unneeded_folders
from indexer.publishing import is_due, kind_of_index, publish, published_alive, vectors_home
from indexer.store import queries
from indexer.store.database import connect
from indexer.store.lock import writer_lock
from indexer.store.records import Collection
from indexer.store.writer import StoreWriter
from indexer.vectors import quarantine, read_generation


class PublishedIsSound:
    """The published index of every collection passes every check, to its last byte."""

    name = "published indexes"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Read every published index whole, and say of which kind it is."""
        for state in patient.states.values():
            if state.generation == 0:
                continue
            try:
                self._check(patient, state)
                yield Finding("pass", f"{state.name!r}: {kind_of_index(patient.folder, state)}.")
            except VectorsDamaged as error:
                # A writer may have published a newer one since, and dropped this one.
                if (state.name, state.generation) in [(now.name, now.generation) for now in _states_now(patient)]:
                    yield Finding("fail", str(error), FIX, partial(_publish_again, state))

    def _check(self, patient: Patient, state: Collection) -> None:
        home = vectors_home(patient.folder, state.name)
        index = read_generation(home, state.generation, state.fingerprint.dimension, whole=True)
        if (index.count, index.last_id) != (state.published_count, state.published_last):
            raise VectorsDamaged(
                f"Generation {state.generation} of {state.name!r} holds {index.count:,} vectors up to the id "
                f"{index.last_id}, and the store knows of {state.published_count:,} up to {state.published_last}."
            )
        alive = published_alive(patient.connection, state)
        if alive > index.count or (state.revision == state.published_revision and alive != index.count):
            raise VectorsDamaged(
                f"Generation {state.generation} of {state.name!r} holds {index.count:,} vectors for {alive:,} chunks."
            )


class NothingWaits:
    """No collection has more to publish than should wait, and no rebuild was left unfinished."""

    name = "pending work"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Ask for what is due."""
        for state in patient.states.values():
            if is_due(patient.connection, state):
                detail = f"The collection {state.name!r} is due to be published; until then it is searched more slowly."
                yield Finding("warn", detail, FIX, partial(_publish, state))
            pending = queries.pending_rebuild(patient.connection, state.name)
            if pending is not None:
                embed_only = " --embed-only" if pending.kind == "embed" else ""
                yield Finding(
                    "warn",
                    f"A rebuild of {state.name!r} was interrupted; the same command goes on with it.",
                    f"openbook rebuild{embed_only} --collection {state.name} --embedder {pending.fingerprint.name}",
                )


class FoldersAreNeeded:
    """Nothing lies below `vectors/` but what a reader needs."""

    name = "orphans"

    def look(self, patient: Patient) -> Iterator[Finding]:
        """Look for generations that nothing points to, damaged ones that were set aside, and unfinished ones."""
        try:
            # While someone writes, a folder may be one that is just being made.
            with writer_lock(patient.folder, 0):
                unneeded = list(unneeded_folders(patient.folder, _states_now(patient), previous=True))
        except (StoreError, OSError):
            return
        if unneeded:
            names = [str(path.relative_to(patient.folder)) for path in unneeded]
            yield Finding("warn", f"Folders that no reader needs: {few(names)}.", FIX, drop_unneeded)


def _states_now(patient: Patient) -> list[Collection]:
    """Return the collections as they are now, not as they were when the examination began."""
    with closing(connect(patient.folder, read_only=True)) as connection:
        return list(queries.collections(connection).values())


def _publish(state: Collection, writer: StoreWriter) -> None:
    if queries.collection(writer.connection, state.name) is not None:
        publish(writer, state.name)


def _publish_again(state: Collection, writer: StoreWriter) -> None:
    now = queries.collection(writer.connection, state.name)
    if now is not None and now.generation == state.generation:
        quarantine(vectors_home(writer.folder, state.name), state.generation)
        publish(writer, state.name, again=True)
        shutil.rmtree(vectors_home(writer.folder, state.name) / f"gen-{state.generation}.damaged", ignore_errors=True)


def drop_unneeded(writer: StoreWriter) -> None:
    """Remove the folders that no reader needs."""
    states = list(queries.collections(writer.connection).values())
    for path in unneeded_folders(writer.folder, states, previous=True):
        shutil.rmtree(path)
