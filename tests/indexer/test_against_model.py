"""Random sequences of adding, changing, deleting, damaging and reopening, against a dictionary."""

from __future__ import annotations

import json
import shutil
import tempfile
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

from indexer.deletion import delete
from indexer.errors import DocumentNotFound
from indexer.index import Index
from indexer.ingest import ingest
from indexer.publishing import publish, vectors_home
from indexer.settings import IndexerSettings
from indexer.store.writer import open_writer
from indexer.vectors import INDEX, generation_folder

IDS = st.sampled_from([f"d{number}" for number in range(6)])
TEXTS = st.text("abc xyz.\n", min_size=1, max_size=120).filter(str.strip)


class StoreMachine(RuleBasedStateMachine):
    """The store must say what the dictionary says, whatever is done to both."""

    settings: IndexerSettings

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.folder / "store"
        self.documents: dict[str, str] = {}
        self.index = Index.open(self.store, settings=self.settings)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
            shutil.rmtree(self.folder)

    @rule(documents=st.dictionaries(IDS, TEXTS, min_size=1, max_size=4))
    def add_or_change(self, documents: dict[str, str]) -> None:
        path = self.folder / "documents.jsonl"
        path.write_text("\n".join(json.dumps({"id": id_, "text": text}) for id_, text in documents.items()))
        summary = ingest(self.store, [path], "default", settings=self.settings)
        new = {id_ for id_ in documents if id_ not in self.documents}
        same = {id_ for id_ in documents if self.documents.get(id_) == documents[id_]}
        assert (summary.added, summary.unchanged) == (len(new), len(same))
        assert summary.updated == len(documents) - len(new) - len(same)
        self.documents |= documents

    @precondition(lambda self: self.documents)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.documents)), min_size=1, max_size=3))
        delete(self.store, "default", ids, self.settings)
        for id_ in set(ids):
            del self.documents[id_]

    @precondition(lambda self: self.index.collections())
    @rule()
    def remove_what_is_not_there(self) -> None:
        with pytest.raises(DocumentNotFound):
            delete(self.store, "default", [*self.documents, "unknown"], self.settings)

    @precondition(lambda self: self.index.collections())
    @rule()
    def publish_what_waits(self) -> None:
        with open_writer(self.store, 0) as writer:
            publish(writer, "default")

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index.open(self.store, settings=self.settings)

    @precondition(lambda self: self.index.collections())
    @rule(content=st.binary(max_size=20))
    def damage_and_reopen(self, content: bytes) -> None:
        self.index.close()
        generation = Index.open(self.store, settings=self.settings).collections()["default"]
        (generation_folder(vectors_home(self.store, "default"), generation) / INDEX).write_bytes(content)
        self.index = Index.open(self.store, settings=self.settings)

    @invariant()
    def the_documents_are_those_of_the_dictionary(self) -> None:
        if not self.index.collections():
            assert not self.documents
            return
        assert [row.id for row in self.index.documents("default")] == sorted(self.documents)
        for id_, text in self.documents.items():
            detail = self.index.document("default", id_)
            assert detail.text == text
            assert all(detail.text[chunk.start : chunk.end] == chunk.text for chunk in detail.chunks)

    @invariant()
    def every_chunk_is_found_once_and_nothing_else(self) -> None:
        if not self.index.collections():
            return
        found = [hit.chunk_id for hit in self.index.search("default", "abc", 10_000).hits]
        expected = [chunk.id for id_ in self.documents for chunk in self.index.document("default", id_).chunks]
        assert sorted(found) == sorted(expected)

    @precondition(lambda self: self.documents)
    @rule(data=st.data())
    def the_passage_that_is_asked_for_word_by_word_is_the_nearest(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.documents)))
        chunk = self.index.document("default", id_).chunks[0]
        best = self.index.search("default", chunk.text, 1).hits[0]
        assert best.score == pytest.approx(1, abs=1e-5)


@pytest.fixture(params=["exact", "lists"])
def _kind(request, monkeypatch):
    """Let every collection have this kind of index, however small it is."""
    monkeypatch.setenv("OPENBOOK_EXACT_VECTORS", "50000" if request.param == "exact" else "0")


@pytest.mark.usefixtures("_kind")
def test_the_store_agrees_with_a_dictionary_whatever_is_done(settings, capfd):
    class Machine(StoreMachine):
        pass

    Machine.settings = settings
    run_state_machine_as_test(
        Machine, settings=hypothesis_settings(max_examples=15, stateful_step_count=12, deadline=None)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("_kind")
def test_the_store_agrees_with_a_dictionary_for_a_long_time(settings, capfd):
    class Machine(StoreMachine):
        pass

    Machine.settings = settings
    run_state_machine_as_test(
        Machine, settings=hypothesis_settings(max_examples=1000, stateful_step_count=30, deadline=None)
    )
