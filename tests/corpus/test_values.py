from __future__ import annotations

import random
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.world.names import Order, Syllables, family_names, island_name, town_names
from corpus.world.values import Dates, Days, Numbers, Things, Years, in_words, ordinal, pair_at, with_article


class Straight:
    """An order that scatters nothing."""

    def __getitem__(self, position: int) -> int:
        return position


def straight(part: str, size: int) -> Straight:
    return Straight()


def test_numbers_are_written_in_words():
    assert [in_words(number) for number in (0, 13, 20, 47, 100, 214, 900)] == [
        "zero", "thirteen", "twenty", "forty-seven", "one hundred", "two hundred and fourteen", "nine hundred",
    ]  # fmt: skip
    assert in_words(214, " ") == "two hundred fourteen"


def test_ordinals_have_the_right_ending():
    assert [ordinal(day) for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "31st",
    ]  # fmt: skip


def test_an_article_goes_by_the_first_letter():
    assert with_article("amber owl") == "an amber owl"
    assert with_article("silver owl") == "a silver owl"


def test_a_number_is_accepted_in_digits_and_words_with_and_without_its_unit():
    value = Numbers(13, 97, "beds").value(4, straight)
    assert value.phrase == "17"
    assert value.answers == ("17", "17 beds", "seventeen", "seventeen beds")


def test_money_is_preferred_with_its_unit():
    value = Numbers(13, 97, "crowns", unit_in_phrase=True).value(8, straight)
    assert value.phrase == value.answers[0] == "21 crowns"
    assert "twenty-one" in value.answers


def test_a_date_is_accepted_in_every_usual_order():
    value = Dates(date(1822, 3, 1), date(1822, 3, 31)).value(13, straight)
    assert value.phrase == "14 March 1822"
    assert value.answers == (
        "14 March 1822", "March 14, 1822", "14th March 1822", "14th of March 1822", "March 14th, 1822",
    )  # fmt: skip


def test_a_day_of_the_year_has_no_year():
    assert Days().value(128, straight).answers == ("9 May", "May 9", "9th May", "9th of May", "May 9th")


def test_a_year_has_one_spelling():
    assert Years(1741, 1839).value(44, straight).answers == ("1785",)


def test_a_thing_is_answered_without_its_article():
    value = Things(("amber", "silver"), ("owl", "thimble"), article=True).value(0, straight)
    assert (value.phrase, value.answers) == ("an amber owl", ("amber owl",))


@settings(deadline=None)
@given(firsts=st.integers(1, 30), seconds=st.integers(1, 30))
def test_every_pair_comes_once_and_neighbours_share_no_part(firsts, seconds):
    pairs = [pair_at(position, firsts, seconds) for position in range(firsts * seconds)]
    assert len(set(pairs)) == firsts * seconds
    if firsts > 2 and seconds > 2:
        assert all(one[0] != other[0] for one, other in pairwise(pairs))


@settings(deadline=None, max_examples=25)
@given(size=st.integers(1, 3_000) | st.integers(50_001, 60_000), seed=st.integers(0, 10))
def test_an_order_holds_every_number_once(size, seed):
    order = Order(size, random.Random(seed))
    assert sorted(order[position] for position in range(size)) == list(range(size))
    assert order[size] == order[0]


@settings(deadline=None)
@given(st.integers(0, 23 * 5 * 24 * 5 * 11 - 1), st.integers(0, 23 * 5 * 24 * 5 * 11 - 1))
def test_two_numbers_never_give_one_name(one, other):
    names: Syllables = family_names(random.Random(1)).patterns[0][0]
    one, other = one % names.size, other % names.size
    assert (names[one] == names[other]) == (one == other)


def test_names_are_capitalised_and_long_enough():
    families, towns = family_names(random.Random(2)), town_names(random.Random(2))
    for position in range(2_000):
        for name in (families[position], towns[position]):
            assert name.istitle()
            assert len(name) >= 4
    assert island_name(random.Random(2)).istitle()


def test_names_run_out_with_an_error():
    families = family_names(random.Random(2))
    total = sum(pattern.size for pattern, _ in families.patterns)
    assert families[total - 1]
    with pytest.raises(IndexError, match="used up"):
        families[total]
