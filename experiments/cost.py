"""Cost: machine seconds of each arm, the money they come to, and where retrieval and fine-tuning break even. Pure."""

from __future__ import annotations

from experiments.results import ArmCost, CostSummary
from experiments.run_data import RunData
from experiments.spec import Arm, Price

SECONDS_DECIMALS, MONEY_DECIMALS = 3, 6


def money(seconds: float, price: Price) -> float:
    """Return what machine time costs: seconds x price per hour / 3600."""
    return round(seconds * price.per_hour / 3600, MONEY_DECIMALS)


def arm_cost(run: RunData, name: str) -> ArmCost:
    """Return one arm's cost: once for indexing and training, and for every 1,000 questions."""
    arm, price = run.spec.arms[name], run.spec.price
    card = run.state.finetuned if arm.checkpoint == "finetuned" else None
    training = (card.training_seconds or 0.0) if card else 0.0
    one_off = _indexing_seconds(run, arm) + training
    answered = sum(record.answer is not None for record in run.answers["test"].get(name, {}).values())
    serving = run.state.asking_seconds.get(name, 0.0) * 1000 / answered if answered else 0.0
    return ArmCost(
        one_off_seconds=round(one_off, SECONDS_DECIMALS),
        one_off_money=money(one_off, price),
        seconds_per_1000_questions=round(serving, SECONDS_DECIMALS),
        money_per_1000_questions=money(serving, price),
        training_seconds=card.training_seconds if card else None,
        training_peak_bytes=card.training_peak_bytes if card else None,
    )


def cost_summary(run: RunData) -> CostSummary:
    """Return the prices and the break-even between the arms of the primary contrast."""
    questions, note = _break_even(run)
    return CostSummary(
        currency=run.spec.price.currency,
        price_per_hour=run.spec.price.per_hour,
        indexing_seconds=round(run.state.indexing_seconds.get("main", 0.0), SECONDS_DECIMALS),
        training_seconds=run.state.finetuned.training_seconds if run.state.finetuned else None,
        break_even_questions=questions,
        break_even_note=note,
    )


def break_even(one_off_a: float, each_a: float, one_off_b: float, each_b: float) -> float | None:
    """Return the number of questions q at which one_off_a + q · each_a = one_off_b + q · each_b.

    None where one is never dearer than the other for any q above 0: it is cheaper, or equal, both at once and for each
    question. With 10 + 0.5 q and 40 + 0.2 q: q = 30 / 0.3 = 100.
    """
    if each_a == each_b:
        return None
    questions = (one_off_b - one_off_a) / (each_a - each_b)
    return questions if questions > 0 else None


def _break_even(run: RunData) -> tuple[float | None, str]:
    pair = _retrieval_and_finetuning(run)
    if pair is None:
        return None, "No break-even: it needs one arm that retrieves on the base and one that is fine-tuned."
    rag, ft = (arm_cost(run, name) for name in pair)
    each_rag, each_ft = rag.seconds_per_1000_questions / 1000, ft.seconds_per_1000_questions / 1000
    questions = break_even(rag.one_off_seconds, each_rag, ft.one_off_seconds, each_ft)
    dearer_first = pair[1] if ft.one_off_seconds > rag.one_off_seconds else pair[0]
    cheaper_first = pair[0] if dearer_first == pair[1] else pair[1]
    if questions is None:
        return None, f"Never: {cheaper_first} costs no more than {dearer_first}, neither at once nor for each question."
    return round(questions, 1), (
        f"{dearer_first} costs more at once and less for each question than {cheaper_first}: it is the cheaper one in "
        f"all after {questions:,.0f} questions, as long as the documents do not change."
    )


def _retrieval_and_finetuning(run: RunData) -> tuple[str, str] | None:
    """Return the primary arms as (retrieving base, fine-tuned without passages), where they are such."""
    names = (run.spec.primary.a, run.spec.primary.b)
    retrieving = [name for name in names if _is(run.spec.arms[name], "base", "dense")]
    finetuned = [name for name in names if _is(run.spec.arms[name], "finetuned", "none")]
    return (retrieving[0], finetuned[0]) if retrieving and finetuned else None


def _is(arm: Arm, checkpoint: str, retriever: str) -> bool:
    return arm.checkpoint == checkpoint and arm.retriever == retriever


def _indexing_seconds(run: RunData, arm: Arm) -> float:
    return 0.0 if arm.retriever == "none" else run.state.indexing_seconds.get(arm.corpus, 0.0)
