from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.errors import RoutingNotFound
from app.routing import POLICIES, Inquiry, RoutingOptions
from app.routing.load import load_routing
from app.routing.question_length import ByQuestionLength
from app.routing.retrieval_confidence import ByRetrievalConfidence

SERVED = ("small@1", "tuned@2", "large@1")
SHORT = Inquiry("Who keeps the lighthouse?", "dense", (0.8, 0.3))


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_chooses_a_served_checkpoint_also_where_there_is_one_alone(name: str) -> None:
    policy = load_routing(name, RoutingOptions())
    for inquiry in (
        SHORT,
        Inquiry("why " * 60, "dense", ()),
        Inquiry("why", "none", ()),
        Inquiry("x", "lexical", (9,)),
    ):
        for served in (SERVED, SERVED[:1]):
            choice = policy.choose(inquiry, served)
            assert choice.checkpoint in served
            assert choice.reason


def test_long_questions_go_to_the_checkpoint_that_is_named_for_them() -> None:
    policy = ByQuestionLength(RoutingOptions("large@1", 5))
    assert policy.choose(SHORT, SERVED).checkpoint == "small@1"
    long = policy.choose(Inquiry("Who keeps the old lighthouse?", "dense", ()), SERVED)
    assert (long.checkpoint, long.reason) == ("large@1", "the question has 5 words, 5 or more")


@pytest.mark.parametrize(
    ("scores", "expected"), [((0.8, 0.3), "small@1"), ((0.6,), "small@1"), ((0.59,), "tuned@2"), ((), "tuned@2")]
)
def test_questions_whose_passages_fit_badly_go_to_the_other_checkpoint(
    scores: tuple[float, ...], expected: str
) -> None:
    policy = ByRetrievalConfidence(RoutingOptions(threshold=0.6))
    assert policy.choose(Inquiry("Who?", "dense", scores), SERVED).checkpoint == expected


def test_where_no_similarity_was_measured_confidence_chooses_nothing() -> None:
    policy = ByRetrievalConfidence(RoutingOptions(threshold=0.6))
    assert policy.choose(Inquiry("Who?", "lexical", (0.1,)), SERVED).checkpoint == "small@1"


def test_a_policy_of_ones_own_is_a_python_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "our_policies.py").write_text(
        "from app.routing import Choice\n"
        "class Last:\n"
        "    def __init__(self, options): self.options = options\n"
        "    def choose(self, inquiry, served): return Choice(served[-1], 'it is the last')\n"
        "class Nothing:\n"
        "    def __init__(self, options): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load_routing("our_policies:Last", RoutingOptions()).choose(SHORT, SERVED).checkpoint == "large@1"
    with pytest.raises(RoutingNotFound, match="no method `choose`"):
        load_routing("our_policies:Nothing", RoutingOptions())
    del sys.modules["our_policies"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("by_question_lenght", "Did you mean 'by_question_length'"),
        ("nowhere.at_all:Policy", "cannot be made"),
        ("app.routing.fixed:Loose", "cannot be made"),
    ],
)
def test_a_policy_that_is_not_there_is_an_error_with_a_way_out(name: str, expected: str) -> None:
    with pytest.raises(RoutingNotFound, match=expected):
        load_routing(name, RoutingOptions())
