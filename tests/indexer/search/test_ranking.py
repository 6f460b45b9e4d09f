"""How rankings are joined, thinned and ordered, against plain evaluations."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from indexer.errors import SearchRefused
from indexer.search.diversity import maximal_marginal_relevance
from indexer.search.duplicates import near_duplicates
from indexer.search.hybrid import reciprocal_rank_fusion
from indexer.search.options import SearchOptions
from tests.indexer.search.conftest import found

RANKINGS = st.lists(st.lists(st.integers(1, 30), unique=True, max_size=20), max_size=4)


@given(RANKINGS)
def test_fusion_sums_reciprocal_ranks(rankings):
    exact: dict[int, Fraction] = defaultdict(Fraction)
    for ranking, id_ in itertools.product(rankings, range(1, 31)):
        if id_ in ranking:
            exact[id_] += Fraction(1, 60 + ranking.index(id_) + 1)
    fused = reciprocal_rank_fusion(rankings)
    assert dict(fused) == pytest.approx({id_: float(score) for id_, score in exact.items()})
    order = [exact[id_] for id_, _ in fused]
    assert order == sorted(order, reverse=True)


@given(st.lists(st.integers(1, 30), unique=True, max_size=20))
def test_a_ranking_that_found_nothing_has_no_weight(ranking):
    assert [id_ for id_, _ in reciprocal_rank_fusion([ranking, []])] == ranking
    assert [id_ for id_, _ in reciprocal_rank_fusion([[], ranking])] == ranking


def test_a_hybrid_search_without_a_common_word_is_the_dense_one(index, add):
    add(**{f"d{number}": f"text {number}" for number in range(12)})
    assert found(index, "床前明月光", retriever="hybrid") == found(index, "床前明月光", retriever="dense")


def test_a_hybrid_search_finds_what_either_finds(index, add):
    add(**{f"d{number:02}": f"words {number}" for number in range(80)}, code="zq UNIQ-7781 zq")
    question = "words about UNIQ-7781"
    hits = index.search("default", question, 3, SearchOptions(retriever="hybrid", collapse=False)).hits
    legs = [found(index, question, 100, retriever=leg, collapse=False)[:50] for leg in ("dense", "lexical")]
    expected = {id_: sum(1 / (61 + leg.index(id_)) for leg in legs if id_ in leg) for id_ in {*legs[0], *legs[1]}}
    assert [hit.score for hit in hits] == pytest.approx(sorted(expected.values(), reverse=True)[:3])
    assert all(hit.score == pytest.approx(expected[hit.document_id]) for hit in hits)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@given(seed=st.integers(0, 10_000), weight=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), wanted=st.integers(1, 12))
@hypothesis_settings(deadline=None)
def test_maximal_marginal_relevance_is_its_definition(seed, weight, wanted):
    random = np.random.default_rng(seed)
    vectors, question = unit(random.normal(size=(9, 4))), unit(random.normal(size=(1, 4)))[0]
    chosen: list[int] = []
    while len(chosen) < min(wanted, 9):
        marginal = {
            i: weight * float(vectors[i] @ question)
            - (1 - weight) * max((float(vectors[i] @ vectors[j]) for j in chosen), default=0.0)
            for i in range(9)
            if i not in chosen
        }
        best = max(marginal.values())
        chosen.append(next(i for i, value in marginal.items() if value > best - 1e-6))
    assert maximal_marginal_relevance(vectors @ question, vectors, weight, wanted) == chosen


def test_relevance_alone_is_the_plain_ranking_and_novelty_alone_is_not(index, add):
    add(a="the ferry at six", b="the ferry at six today", c="mill zz 99", d="the ferry at six now")
    plain = found(index, "the ferry at six", collapse=False)
    assert found(index, "the ferry at six", mmr=1.0, collapse=False) == plain
    assert found(index, "the ferry at six", 2, mmr=0.1, collapse=False)[1] == "c"


@pytest.mark.parametrize("retriever", ["dense", "lexical", "hybrid"])
@pytest.mark.parametrize("margin", [0.0, 0.2, 0.5, 2.0])
def test_a_margin_keeps_the_best_passage_and_those_hardly_less_similar(index, add, retriever, margin):
    add(a="the ferry at six", b="the ferry at six today", c="the mill zz 99", d="ferry the now", e="at six")
    question = "the ferry at six"
    # A threshold that nothing misses makes the search say how similar each passage is.
    every = index.search("default", question, 4, SearchOptions(retriever=retriever, min_score=-1.0)).hits
    kept = found(index, question, 4, retriever=retriever, margin=margin)
    least = every[0].similarity - margin
    assert kept == [hit.document_id for at, hit in enumerate(every) if at == 0 or hit.similarity >= least]


COPIES = {f"copy{number}": f"The gauge at the pier read {number}.{number}2 m." for number in range(10)}
FACT = {"fact": "Orla Venn minds the gauge at the pier."}


def test_ten_copies_of_a_sentence_do_not_crowd_out_the_needed_fact(packaged):
    texts = [*COPIES.values(), *FACT.values()]
    question = "Who minds the gauge at the pier?"
    vectors = packaged.embed_passages(texts)
    order = np.argsort(-vectors @ packaged.embed_query(question))
    ranked = [texts[at] for at in order]
    copies = near_duplicates(ranked, vectors[order], question, 5)
    kept = [text for at, text in enumerate(ranked) if at not in copies]
    assert (len(kept), FACT["fact"] in kept) == (2, True)


def test_near_duplicates_come_behind_all_others_and_say_of_what(index, add):
    add(**COPIES, **FACT)
    question = "the gauge at the pier read"
    hits = index.search("default", question, 5).hits
    assert "fact" in {hit.document_id for hit in hits}
    assert [hit.duplicate_of is not None for hit in hits] == [False, False, True, True, True]
    assert {hit.duplicate_of for hit in hits[2:]} <= {hit.chunk_id for hit in hits[:2]}
    assert "fact" not in found(index, question, 5, collapse=False)


def test_a_thousand_copies_are_passed_over_too(index, add):
    add(**{f"copy{number}": f"The gauge read {number} metres." for number in range(300)}, fact="zz 99 qq")
    assert "fact" in found(index, "The gauge read", 2)


def test_what_the_question_names_is_no_difference_between_copies(packaged):
    texts = [f"Sensor {number} at the north pier read four metres." for number in (8, 7, 6)]
    vectors = np.ones((3, 1), dtype=np.float32)
    assert near_duplicates(texts, vectors, "What did the sensors read?", 3) == {1: 0, 2: 0}
    assert near_duplicates(texts, vectors, "What did sensor 7 read?", 3) == {2: 0}


def test_passages_with_other_words_are_no_copies_however_near_their_vectors():
    vectors = np.ones((2, 1), dtype=np.float32)
    assert near_duplicates(["The ferry is free.", "Dogs pay four shells."], vectors, "price", 2) == {}


def test_no_document_gives_more_passages_than_its_cap(index, add):
    add(long=". ".join(f"The ferry number {number} leaves" for number in range(60)), short="The mill")
    assert len(found(index, "ferry", 6)) == 6
    assert sorted(found(index, "ferry", 6, per_document=1)) == ["long", "short"]
    assert found(index, "ferry", 6, per_document=2).count("long") == 2


@pytest.mark.parametrize("collapse", [True, False])
def test_every_passage_is_returned_once_where_all_are_wanted(index, add, collapse):
    add(**COPIES, **FACT)
    assert sorted(found(index, "gauge", 100, collapse=collapse)) == sorted({**COPIES, **FACT})


REFUSED = {
    "retriever": ({"retriever": "densse"}, "Did you mean 'dense'?"),
    "mmr": ({"mmr": 1.5}, "a weight from 0"),
    "margin": ({"margin": -0.1}, "from 0 to 2"),
    "both orders": ({"mmr": 0.5, "rerank": "x"}, "choose one of them"),
    "cap": ({"per_document": 0}, "from 1"),
    "score": ({"min_score": "high"}, "a number or 'calibrated'"),
    "uncalibrated": ({"min_score": "calibrated"}, "openbook search --calibrate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_cannot_be_met_are_refused_with_what_to_do(index, add, case):
    add(a="one")
    options, message = REFUSED[case]
    with pytest.raises(SearchRefused) as refused:
        found(index, "one", **options)
    assert message in str(refused.value)
