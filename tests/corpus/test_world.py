from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from corpus.errors import UsageError
from corpus.leakage import leaks
from corpus.schema import Corpus
from corpus.world.digest import DIGESTS
from corpus.world.generate import DOCUMENTS, iter_documents, world_corpus
from corpus.world.kinds import KINDS
from corpus.world.values import Things
from corpus.world.world import AS_IT_IS, EDITIONS, Fact, World

SENTENCE = re.compile(r"(?<=[.?!])\s+")
A_THOUSAND_DISTRICTS = 1_000


@pytest.fixture(scope="module", params=[36, 7, 11])
def seed(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def corpus(seed: int) -> Corpus:
    return world_corpus(seed)


@pytest.fixture(scope="module")
def facts(seed: int) -> dict[str, Fact]:
    return {fact.id: fact for index in range(5) for fact in World(seed).district(index).facts}


def digest_of_world(hash_seed: str) -> str:
    program = (
        "import hashlib; from corpus.world.generate import world_corpus; "
        "print(hashlib.sha256(world_corpus(3, 100).model_dump_json().encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_bytes_under_every_hash_seed():
    here = hashlib.sha256(world_corpus(3, 100).model_dump_json().encode()).hexdigest()
    assert {digest_of_world("0"), digest_of_world("1"), digest_of_world("4711")} == {here}


def test_a_district_is_the_same_whether_asked_for_first_or_last():
    forward, backward = World(5), World(5)
    there = [forward.district(index) for index in range(6)]
    back = [backward.district(index) for index in reversed(range(6))]
    assert there == back[::-1]
    assert list(iter_documents(5, 84)) == list(iter_documents(5, 200))[:84]


def test_a_larger_world_begins_with_the_smaller_one():
    small, large = world_corpus(9, 28), world_corpus(9, 70)
    assert large.documents[:28] == small.documents
    assert large.questions[: len(small.questions)] == small.questions


def test_two_seeds_share_no_answer_about_the_same_subject():
    one, other = world_corpus(1), world_corpus(2)
    assert one.name != other.name
    assert not {document.id for document in one.documents} & {document.id for document in other.documents}
    assert not {question.question for question in one.questions} & {question.question for question in other.questions}


def test_the_world_is_large_enough_for_an_experiment(corpus):
    assert len(corpus.documents) == DOCUMENTS >= 60
    assert len({question.fact_id for question in corpus.questions}) >= 120
    assert len(corpus.split("test")) >= 250


def test_every_fact_has_three_training_and_two_test_wordings(corpus):
    wordings = Counter((question.fact_id, question.split) for question in corpus.questions)
    assert {count for (_, split), count in wordings.items() if split == "train"} == {3}
    assert {count for (_, split), count in wordings.items() if split == "test"} == {2}


def test_training_and_test_templates_never_meet():
    for kind in KINDS:
        for relation in kind.relations:
            assert not set(relation.training) & set(relation.test), f"{kind.name}.{relation.name}"
            assert len(set(relation.training)) >= 3
            assert len(set(relation.test)) >= 2


def test_no_test_question_leaks_into_the_training_wordings(corpus):
    assert leaks(corpus) == ()


def test_every_question_is_asked_once_and_names_its_subject(corpus, facts):
    questions = [question.question for question in corpus.questions]
    assert len(set(questions)) == len(questions)
    for question in corpus.questions:
        assert facts[question.fact_id].subject.it in question.question


def test_every_answer_stands_in_each_of_its_documents(corpus):
    documents = {document.id: document.text for document in corpus.documents}
    for question in corpus.questions:
        assert question.document_ids
        for document_id in question.document_ids:
            assert any(answer in documents[document_id] for answer in question.answers), question.id


def test_every_fact_is_stated_in_a_sentence_that_names_its_subject(corpus, facts):
    texts = {document.id: document.text for document in corpus.documents}
    for question in corpus.questions:
        fact = facts[question.fact_id]
        for document_id in question.document_ids:
            stating = [
                sentence
                for sentence in SENTENCE.split(texts[document_id])
                if any(answer in sentence for answer in fact.value.answers)
            ]
            assert any(fact.subject.it.lower() in sentence.lower() for sentence in stating), (fact.id, stating)


def test_a_document_holds_no_number_but_the_values_of_its_facts(corpus, facts):
    told: dict[str, list[str]] = {}
    for question in corpus.questions:
        for document_id in question.document_ids:
            told.setdefault(document_id, []).append(facts[question.fact_id].value.phrase)
    for document in corpus.documents:
        rest = document.text
        for phrase in told[document.id]:
            rest = rest.replace(phrase, "")
        assert not re.search(r"\d", rest), document.id


def test_the_value_of_a_relation_differs_in_every_district_of_a_small_world():
    world = World(36)
    for kind in KINDS:
        for relation in kind.relations:
            values = [world.value(kind, relation, index, AS_IT_IS).answers[0] for index in range(5)]
            assert len(set(values)) == 5, f"{kind.name}.{relation.name}"


def test_an_update_and_a_rumour_differ_from_what_is():
    world = World(8)
    for index in range(200):
        for kind in KINDS:
            for relation in kind.relations:
                editions = {world.value(kind, relation, index, edition).phrase for edition in range(EDITIONS)}
                assert len(editions) == EDITIONS, f"{kind.name}.{relation.name}"


def test_an_answer_cannot_be_guessed_by_saying_the_commonest_one(corpus):
    answers = Counter(question.answers[0] for question in corpus.split("test"))
    assert answers.most_common(1)[0][1] <= 0.02 * len(corpus.split("test"))


def test_all_pairs_of_words_come_before_any_comes_again():
    world = World(4)
    for kind in KINDS:
        for relation in kind.relations:
            if isinstance(relation.space, Things):
                total = len(relation.space.firsts) * len(relation.space.seconds)
                seen = {world.value(kind, relation, 0, position).phrase for position in range(total)}
                assert len(seen) == total, f"{kind.name}.{relation.name}"


def test_names_and_documents_stay_unique_as_the_world_grows():
    world = World(12)
    subjects: Counter[str] = Counter()
    people: Counter[str] = Counter()
    for index in range(A_THOUSAND_DISTRICTS):
        district = world.district(index)
        subjects.update(subject.it for subject in district.subjects.values())
        people.update(fact.value.phrase for fact in district.facts if len(fact.value.answers) == 2)
    assert subjects.most_common(1)[0][1] == 1
    assert people.most_common(1)[0][1] == 1
    ids = [document.id for document in iter_documents(12, 14 * A_THOUSAND_DISTRICTS)]
    assert len(set(ids)) == len(ids)


def test_names_stay_unique_at_a_million_documents():
    world = World(13)
    districts = range(72_000)
    towns = {world._towns[index] for index in districts}
    assert len(towns) == len(districts)
    assert len({world.family_name("ship.master", index * EDITIONS) for index in districts}) == len(districts)


def test_documents_stream_without_being_held_in_memory():
    stream = iter_documents(1, 10**9)
    assert len(list(islice(stream, 100))) == 100


def test_documents_are_short_and_say_nothing_twice(corpus):
    sentences = Counter(sentence for document in corpus.documents for sentence in SENTENCE.split(document.text))
    assert [sentence for sentence, count in sentences.items() if count > 1] == []
    for document in corpus.documents:
        assert 60 <= len(document.text.split()) <= 150, document.id


def test_prose_is_filled_in_capitalised_and_has_right_articles(corpus):
    for document in corpus.documents:
        assert not re.search(r"[{}]", document.text + document.title)
        for sentence in SENTENCE.split(document.text):
            assert sentence[0].isupper(), sentence
            assert sentence.endswith("."), sentence
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [bcdfgjklmnpqrstvwxyz]|  ", document.text), document.text
        assert document.effective is not None


def test_colour_never_holds_a_number_or_a_slot_for_a_value():
    styles = [style for kind in KINDS for style in kind.styles] + [digest.style for digest in DIGESTS]
    for style in styles:
        for sentence in (*style.openings, *style.colours, *style.endings):
            assert "{value}" not in sentence
            assert not re.search(r"\d", sentence)
        for statements in style.statements.values():
            assert all("{it}" in statement and "{value}" in statement for statement in statements)


def test_a_style_speaks_only_of_relations_that_exist():
    known = {f"{kind.name}.{relation.name}" for kind in KINDS for relation in kind.relations}
    for style in [style for kind in KINDS for style in kind.styles] + [digest.style for digest in DIGESTS]:
        assert set(style.statements) <= known


def test_a_world_without_documents_is_refused():
    with pytest.raises(UsageError, match="0 documents cannot be written; ask for 1 or more"):
        world_corpus(1, 0)


def test_a_cut_district_asks_only_what_its_documents_answer():
    corpus = world_corpus(6, 3)
    assert {question.fact_id.split(".")[1] for question in corpus.questions} == {"town", "ship", "inn"}
    known = {document.id for document in corpus.documents}
    assert all(set(question.document_ids) <= known for question in corpus.questions)
