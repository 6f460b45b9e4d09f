"""Random sequences of everything that can be done to a store, dying included, against a dictionary."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from indexer import failpoints
from indexer.doctor.examination import examine
from indexer.errors import DocumentNotFound
from indexer.failpoints import FailpointReached
from indexer.index import Index
from indexer.ingesting import ingest as ingest_module
from indexer.ingesting.deletion import delete, delete_collection
from indexer.ingesting.ingest import ingest
from indexer.maintenance.backup import backup
from indexer.maintenance.rebuilding import rebuild
from indexer.maintenance.restoring import restore
from indexer.maintenance.vacuum import vacuum
from indexer.publishing import publish, vectors_home
from indexer.search.scope import Scope
from indexer.settings import IndexerSettings
from indexer.store import queries
from indexer.store.database import connect
from indexer.store.writer import open_writer
from indexer.vectors import INDEX, generation_folder

IDS = st.sampled_from([f"d{number}" for number in range(6)])
TEXTS = st.text("abc xyz.\n", min_size=1, max_size=120).filter(str.strip)
DAYS = st.sampled_from([date(2020, 1, 1), date(2021, 6, 1), date(2022, 12, 31)])
MEMORY = Path("/dev/shm")
PLACES = st.sampled_from([name for name in failpoints.NAMES if not name.startswith(("backup.", "restore.half"))])


@dataclass(frozen=True)
class State:
    """What a version of a document says, and the day from which it holds, where it names one."""

    text: str
    effective: date | None


STATES = st.builds(State, TEXTS, st.none() | DAYS)
Documents = dict[str, tuple[State, ...]]
"""The versions of each document, the current one last."""


class StoreMachine(RuleBasedStateMachine):
    """The store must say what the dictionary says, whatever is done to both."""

    settings: IndexerSettings
    steps = 0

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.store = self.folder / "store"
        self.documents: Documents = {}
        self.saved: Documents | None = None
        self.index = Index.open(self.store, settings=self.settings)

    def teardown(self) -> None:
        failpoints.asked.clear()
        if hasattr(self, "index"):
            self.index.close()
            shutil.rmtree(self.folder)

    @rule(states=st.dictionaries(IDS, STATES, min_size=1, max_size=4))
    def add_or_change(self, states: dict[str, State]) -> None:
        same = {id_ for id_, state in states.items() if self.documents.get(id_, ())[-1:] == (state,)}
        new = states.keys() - self.documents.keys()
        summary = ingest(self.store, [self._written(states)], "default", settings=self.settings)
        assert (summary.added, summary.unchanged) == (len(new), len(same))
        assert summary.updated == len(states) - len(new) - len(same)
        self.documents = self._with(states)

    @precondition(lambda self: self.documents)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        ids = self._some(data)
        delete(self.store, "default", ids, self.settings)
        self.documents = self._without(ids)

    @precondition(lambda self: self.index.collections())
    @rule()
    def remove_what_is_not_there(self) -> None:
        with pytest.raises(DocumentNotFound):
            delete(self.store, "default", [*self.documents, "unknown"], self.settings)

    @precondition(lambda self: self.index.collections())
    @rule()
    def remove_the_collection(self) -> None:
        delete_collection(self.store, "default", self.settings)
        self.documents = {}

    @precondition(lambda self: self.index.collections())
    @rule()
    def publish_what_waits(self) -> None:
        with open_writer(self.store, 0) as writer:
            publish(writer, "default")

    @precondition(lambda self: self.index.collections())
    @rule(history=st.booleans())
    def clear_away(self, history: bool) -> None:
        vacuum(self.store, history=history, settings=self.settings)
        if history:
            self.documents = {id_: states[-1:] for id_, states in self.documents.items()}

    @precondition(lambda self: self.index.collections())
    @rule(embed_only=st.booleans())
    def make_anew(self, embed_only: bool) -> None:
        rebuild(self.store, "default", embed_only=embed_only, settings=self.settings)

    @rule()
    def save(self) -> None:
        shutil.rmtree(self.folder / "backup", ignore_errors=True)
        backup(self.store, self.folder / "backup")
        self.saved = dict(self.documents)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def bring_back(self) -> None:
        restore(self.store, self.folder / "backup", self.settings)
        assert self.saved is not None
        self.documents = dict(self.saved)

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index.open(self.store, settings=self.settings)

    @precondition(lambda self: self.index.collections())
    @rule(content=st.binary(max_size=20))
    def damage_and_reopen(self, content: bytes) -> None:
        self.index.close()
        with closing(Index.open(self.store, settings=self.settings)) as index:
            generation = index.collections()["default"]
        (generation_folder(vectors_home(self.store, "default"), generation) / INDEX).write_bytes(content)
        self.index = Index.open(self.store, settings=self.settings)

    @precondition(lambda self: self.documents)
    @rule(data=st.data(), place=PLACES, passages=st.integers(1, 3))
    def die_on_the_way(self, data: st.DataObject, place: str, passages: int) -> None:
        states = data.draw(st.dictionaries(IDS, STATES, min_size=1, max_size=4))
        ids = self._some(data)
        expected: dict[str, tuple[Callable[[], object], Documents]] = {
            "ingest": (
                lambda: ingest(self.store, [self._written(states)], "default", settings=self.settings),
                self._with(states),
            ),
            "delete": (lambda: delete(self.store, "default", ids, self.settings), self._without(ids)),
            "rebuild": (lambda: rebuild(self.store, "default", settings=self.settings), self.documents),
            "embed": (lambda: rebuild(self.store, "default", embed_only=True, settings=self.settings), self.documents),
            "vacuum": (lambda: vacuum(self.store, settings=self.settings), self.documents),
        }
        run, after = expected[data.draw(st.sampled_from(sorted(expected)))]
        with self._failing(place, passages), contextlib.suppress(FailpointReached):
            run()
        self._take_over(after)

    @precondition(lambda self: self.documents)
    @rule(day=DAYS)
    def what_held_on_a_day_is_known(self, day: date) -> None:
        with closing(connect(self.store)) as connection:
            ids = Scope("default", as_of=day).ids(connection)
            found = {row.document_id for row in queries.passages(connection, ids, "default", live=False).values()}
            for id_, states in self.documents.items():
                held = [state for state in states if _first_day(state) <= day]
                expected = max(enumerate(held), key=lambda each: (_first_day(each[1]), each[0]))[1] if held else None
                version = queries.version_as_of(connection, "default", id_, day)
                detail = version and queries.document(connection, "default", id_, version)
                assert (detail.text if detail else None) == (expected.text if expected else None)
                assert (id_ in found) == (expected is not None)

    @precondition(lambda self: self.documents)
    @rule(data=st.data())
    def the_passage_that_is_asked_for_word_by_word_is_the_nearest(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.documents)))
        chunk = self.index.document("default", id_).chunks[0]
        best = self.index.search("default", chunk.text, 1).hits[0]
        assert best.score == pytest.approx(1, abs=1e-5)

    @invariant()
    def the_documents_and_their_versions_are_those_of_the_dictionary(self) -> None:
        type(self).steps += 1
        if not self.index.collections():
            assert not self.documents
            return
        assert self._held() == self.documents
        for id_ in self.documents:
            detail = self.index.document("default", id_)
            assert all(detail.text[chunk.start : chunk.end] == chunk.text for chunk in detail.chunks)

    @invariant()
    def every_chunk_is_found_once_and_nothing_else(self) -> None:
        if not self.index.collections():
            return
        found = [hit.chunk_id for hit in self.index.search("default", "abc", 10_000).hits]
        expected = [chunk.id for id_ in self.documents for chunk in self.index.document("default", id_).chunks]
        assert sorted(found) == sorted(expected)

    @invariant()
    def the_doctor_finds_nothing_that_fails(self) -> None:
        assert [result for result in examine(self.store) if result.level == "fail"] == []

    def _held(self) -> Documents:
        held: Documents = {}
        for row in self.index.documents("default"):
            details = [
                self.index.document("default", row.id, version.version)
                for version in reversed(self.index.versions("default", row.id))
            ]
            held[row.id] = tuple(State(detail.text, detail.effective) for detail in details)
        return held

    def _take_over(self, after: Documents) -> None:
        """Take what the store holds for true, where each document is what it was or what it was to be."""
        held = self._held()
        for id_ in held.keys() | self.documents.keys():
            assert held.get(id_) in (self.documents.get(id_), after.get(id_)), f"{id_} is half changed"
        self.documents = held

    @contextlib.contextmanager
    def _failing(self, place: str, passages: int) -> Iterator[None]:
        failpoints.asked[place] = ("error", passages)
        try:
            yield
        finally:
            failpoints.asked.clear()

    def _some(self, data: st.DataObject) -> list[str]:
        return data.draw(st.lists(st.sampled_from(sorted(self.documents)), min_size=1, max_size=3))

    def _written(self, states: dict[str, State]) -> Path:
        path = self.folder / "documents.jsonl"
        lines = [
            {"id": id_, "text": state.text} | ({"effective": str(state.effective)} if state.effective else {})
            for id_, state in states.items()
        ]
        path.write_text("\n".join(json.dumps(line) for line in lines))
        return path

    def _with(self, states: dict[str, State]) -> Documents:
        changed = {
            id_: (*self.documents.get(id_, ()), state)
            for id_, state in states.items()
            if self.documents.get(id_, ())[-1:] != (state,)
        }
        return self.documents | changed

    def _without(self, ids: list[str]) -> Documents:
        return {id_: states for id_, states in self.documents.items() if id_ not in ids}


def _first_day(state: State) -> date:
    return state.effective or datetime.now(UTC).date()


@pytest.fixture(params=["exact", "lists"])
def _kind(request, monkeypatch):
    """Let every collection have this kind of index, however small it is, and commit every two documents."""
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", "50000" if request.param == "exact" else "0")
    monkeypatch.setattr(ingest_module, "GROUP_DOCUMENTS", 2)


@pytest.fixture
def _loaded(tiny, monkeypatch):
    """Let every command use the one embedder that is loaded already: most of the time would go into loading it."""
    monkeypatch.setattr("indexer.embedding.embedders.Embedder.load", lambda *_: tiny)


def run(settings: IndexerSettings, examples: int, steps: int) -> int:
    """Run the machine; return how many steps it took."""

    class Machine(StoreMachine):
        pass

    Machine.settings = settings
    run_state_machine_as_test(
        Machine, settings=hypothesis_settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    )
    return Machine.steps


@pytest.mark.usefixtures("_kind", "_loaded")
def test_the_store_agrees_with_a_dictionary_whatever_is_done(settings, capfd):
    assert run(settings, examples=8, steps=12) > 50


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("_kind", "_loaded")
def test_the_store_agrees_with_a_dictionary_for_a_long_time(settings, capfd):
    assert run(settings, examples=300, steps=50) >= 10_000
