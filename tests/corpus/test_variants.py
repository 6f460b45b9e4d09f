from __future__ import annotations

from collections import Counter

import pytest

from corpus.normalisation import normalised_words
from corpus.world.generate import iter_documents, world_corpus
from corpus.world.variants import VARIANTS, iter_variant_documents, iter_variant_questions


@pytest.mark.parametrize("name", VARIANTS)
def test_a_set_asks_the_questions_of_the_corpus(name):
    asked = {question.id: question for question in world_corpus(7).questions}
    for question in iter_variant_questions(VARIANTS[name], 7, 5):
        assert question.question == asked[question.id].question
        same = question.answers == asked[question.id].answers
        assert same == (name == "duplicates")


@pytest.mark.parametrize("name", VARIANTS)
def test_a_set_says_what_its_answers_say(name):
    texts = {document.id: document.text for document in iter_variant_documents(VARIANTS[name], 7, 5)}
    assert len(texts) == 20
    assert not set(texts) & {document.id for document in iter_documents(7, 70)}
    for question in iter_variant_questions(VARIANTS[name], 7, 5):
        for document_id in question.document_ids:
            assert any(answer in texts[document_id] for answer in question.answers)


def test_an_update_supersedes_the_only_document_with_the_old_value_and_is_newer():
    corpus = world_corpus(7)
    documents = {document.id: document for document in corpus.documents}
    asked = {question.id: question for question in corpus.questions}
    updates = {document.id: document for document in iter_variant_documents(VARIANTS["updates"], 7, 5)}
    newest = max(document.effective for document in corpus.documents)
    for question in iter_variant_questions(VARIANTS["updates"], 7, 5):
        update = updates[question.document_ids[0]]
        assert asked[question.id].document_ids == (update.supersedes,)
        assert update.effective > newest
        assert update.authority >= documents[update.supersedes].authority


def test_hearsay_has_less_authority_and_is_older_or_newer():
    documents = {document.id: document for document in iter_documents(7, 70)}
    newer = set()
    for rumour in iter_variant_documents(VARIANTS["contradictions"], 7, 5):
        source = documents[rumour.metadata["contradicts"]]
        assert rumour.authority < source.authority
        newer.add(rumour.effective > source.effective)
    assert newer == {True, False}


def test_duplicates_are_exact_or_nearly_so():
    documents = {document.id: document for document in iter_documents(7, 70)}
    sorts = Counter()
    for copy in iter_variant_documents(VARIANTS["duplicates"], 7, 5):
        source = documents[copy.metadata["copy_of"]]
        sorts[copy.metadata["copy"]] += 1
        assert (copy.text == source.text) == (copy.metadata["copy"] == "exact")
        one, other = set(normalised_words(copy.text)), set(normalised_words(source.text))
        assert len(one & other) / len(one | other) > 0.6
    assert sorts == {"exact": 10, "near": 10}
