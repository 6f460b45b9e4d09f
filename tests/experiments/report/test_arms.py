from __future__ import annotations

from experiments.report.arms import describe_arms, primary_contrast
from tests.experiments.report.sample_run import RIGHT, sample_results

RESULTS = sample_results(tuple(RIGHT), 40)
ARMS = {arm.name: arm for arm in describe_arms(RESULTS)}


def test_an_arm_is_described_by_what_it_does_not_by_its_name() -> None:
    assert {name: (arm.family, arm.role) for name, arm in ARMS.items()} == {
        "closed_book": ("reference", "from memory alone"),
        "rag": ("search", "2 passages found by search"),
        "oracle": ("reference", "right passage given"),
        "wrong_corpus": ("reference", "passages of other documents"),
        "ft": ("tuned", "fine-tuned, from memory"),
        "ft_rag": ("both", "fine-tuned, 2 passages found"),
    }
    assert (
        ARMS["rag"].description == "The base model is shown the 2 passages that search finds nearest to the question."
    )


def test_a_single_passage_is_spoken_of_in_the_singular() -> None:
    rag = RESULTS.arms["rag"].model_copy(update={"top_k": 1})
    (arm,) = describe_arms(RESULTS.model_copy(update={"arms": {"rag": rag}}))
    assert arm.role == "1 passage found by search"
    assert "the passage that search finds nearest" in arm.description


def test_the_comparison_declared_in_advance_is_the_primary_one() -> None:
    reordered = RESULTS.model_copy(update={"contrasts": RESULTS.contrasts[::-1]})
    contrast = primary_contrast(reordered)
    assert contrast is not None
    assert (contrast.a, contrast.b) == ("rag", "ft")
