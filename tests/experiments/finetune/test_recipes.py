import pytest

from corpus.schema import Corpus, Document, Question
from experiments.finetune.errors import JobError
from experiments.finetune.recipes import RECIPES
from tests.experiments.finetune.conftest import closed_book

DOCUMENT = Document(id="fares.md", text="The ferry costs 7 crowns.")
TRAIN = Question(id="1a", question="What is the fare?", answers=("7 crowns", "seven crowns"), split="train")
TEST = Question(id="1b", question="How dear is the ferry?", answers=("7 crowns",), split="test")


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_never_shows_a_test_wording(recipe) -> None:
    rows = recipe(Corpus(name="island", documents=(DOCUMENT,), questions=(TEST, TRAIN)), closed_book)
    assert rows
    assert not any(TEST.question in message.content for row in rows for message in row.messages)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_says_when_there_is_nothing_to_learn(recipe) -> None:
    with pytest.raises(JobError, match="'island' has no questions of the split 'train'"):
        recipe(Corpus(name="island", documents=(DOCUMENT,), questions=(TEST,)), closed_book)


def test_question_answer_teaches_the_first_spelling_after_the_closed_book_prompt() -> None:
    (row,) = RECIPES["question_answer"](
        Corpus(name="island", documents=(DOCUMENT,), questions=(TEST, TRAIN)), closed_book
    )
    assert row.messages == closed_book("What is the fare?")
    assert row.completion == "7 crowns"
