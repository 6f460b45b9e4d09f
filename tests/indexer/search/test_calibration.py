"""The calibrated threshold tells questions that a collection can answer from those it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import SearchRefused
from indexer.index import Index
from indexer.ingesting.deletion import delete
from indexer.ingesting.ingest import ingest
from indexer.search.calibrating import calibrate_collection
from indexer.search.calibration import FOREIGN_PROBES, best_threshold, own_probes
from indexer.search.options import SearchOptions
from tests.conftest import SALTMERE
from tests.indexer.search.conftest import found

SCORES = st.lists(st.sampled_from([number / 20 for number in range(-4, 21)]), min_size=1, max_size=30)


@given(foreign=SCORES, own=SCORES)
def test_no_threshold_tells_the_probes_apart_better(foreign, own):
    def separation(threshold: float) -> float:
        return np.mean(np.array(foreign) < threshold) + np.mean(np.array(own) >= threshold)

    found_ = best_threshold(foreign, own)
    assert separation(found_.min_score) == pytest.approx(found_.foreign_refused + found_.own_kept)
    every = [separation(number / 40) for number in range(-40, 44)]
    assert separation(found_.min_score) == pytest.approx(max(every))


def test_where_the_probes_are_apart_the_threshold_lies_just_above_the_foreign_ones():
    calibration = best_threshold([0.1, 0.3, 0.2], [0.6, 0.9])
    assert 0.3 < calibration.min_score < 0.31
    assert (calibration.foreign_refused, calibration.own_kept) == (1, 1)


def test_a_probe_is_a_sentence_of_a_passage():
    passages = ["The ferry leaves at six. The harbour master keeps the tide tables.", "短い。", "x"]
    probes = own_probes(passages)
    assert all(any(probe in passage for passage in passages) for probe in probes)
    assert own_probes(passages) == probes


def test_off_topic_questions_find_nothing_and_those_of_the_documents_do(tmp_path):
    store = tmp_path / "store"
    ingest(store, [SALTMERE], "default")
    index = Index.open(store)
    calibration = calibrate_collection(index, "default")
    calibrated = SearchOptions(min_score="calibrated")
    asked = index.search("default", "Who is the keeper of the lighthouse?", 3, calibrated)
    assert asked.hits[0].document_id == "lighthouse.md"
    assert asked.min_score == calibration.min_score
    refused = [index.search("default", question, 3, calibrated).reason for question in FOREIGN_PROBES]
    assert refused.count("below_threshold") / len(refused) == pytest.approx(calibration.foreign_refused)
    assert calibration.foreign_refused >= 0.9
    index.close()


def test_a_threshold_belongs_to_its_collection(index, add):
    add(a="the ferry leaves at six")
    add(collection="other", b="the mill is closed")
    calibrate_collection(index, "default")
    with pytest.raises(SearchRefused, match="'other' was never calibrated"):
        found(index, "ferry", collection="other", min_score="calibrated")


def test_an_empty_collection_cannot_be_calibrated(index, add, store, settings):
    add(a="one")
    delete(store, "default", ["a"], settings)
    with pytest.raises(SearchRefused, match="is empty"):
        calibrate_collection(index, "default")
