"""The tables of a report, as cells of ready text that HTML and Markdown set in their own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.report import words
from experiments.report.arms import Arm, is_tuned
from experiments.report.costs import FIRST_QUESTIONS, Costs
from experiments.report.examples import Forgotten
from experiments.report.figures import differences
from experiments.report.glossary import GLOSSARY, describe
from experiments.results import Contrast, Estimate, Gate, Results, Trial

LONG_WORD = 24
SYMBOLS = {"better": "▲", "worse": "▼", "equivalent": "=", "underpowered": "?"}


@dataclass(frozen=True)
class Column:
    """A column's title; numbers are set flush right."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Cell:
    """A text, a smaller note to it, and for HTML a family's marker or a drawing."""

    text: str
    note: str = ""
    family: str = ""
    drawing: str = ""
    """SVG that repeats the text."""
    tone: str = ""
    """`good` or `bad`; the text says the same in words."""

    @property
    def has_long_word(self) -> bool:
        """Whether a word is so long that it must be broken somewhere, lest it push the table off the page."""
        return any(len(word) > LONG_WORD for word in self.text.split())


@dataclass(frozen=True)
class Table:
    """Cells under columns; the first cell of a row names it."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def metric_names(arms: Sequence[Arm], primary: str) -> list[str]:
    """Return the metrics of all arms: the primary one, those of the glossary, then others by name."""
    names = {name for arm in arms for name in arm.result.metrics}
    known = [name for name in (primary, *GLOSSARY) if name in names]
    return [*dict.fromkeys(known), *sorted(names - set(known))]


def forgotten_table(forgotten: Sequence[Forgotten]) -> Table:
    """Return questions of general knowledge with the answers before and after fine-tuning."""
    rows = [(Cell(each.question), Cell(f"✓ {each.before}"), Cell(f"✗ {each.after}", tone="bad")) for each in forgotten]
    columns = (Column("Question"), Column("Before fine-tuning"), Column("After fine-tuning"))
    return Table("Questions that the base model got right and the fine-tuned one did not", columns, tuple(rows))


def metrics_table(arms: Sequence[Arm], primary: str) -> Table:
    """Return every arm's figures over the test questions."""
    metrics = metric_names(arms, primary)
    columns = [Column("Arm"), *(Column(describe(name).label, numeric=True) for name in metrics)]
    columns += [Column(title, numeric=True) for title in ("Scored", "Latency", "Tokens")]
    rows = [
        (
            Cell(arm.name, arm.role, family=arm.family),
            *(_estimate_cell(arm.estimate(name)) for name in metrics),
            Cell(words.count(arm.result.scored), f"of {words.count(arm.result.n)}"),
            *_serving_cells(arm),
        )
        for arm in arms
    ]
    return Table("Every arm on the test questions, with 95 % intervals", tuple(columns), tuple(rows))


def contrasts_table(contrasts: Sequence[Contrast]) -> Table:
    """Return the paired comparisons, the one declared in advance first."""
    order = sorted(contrasts, key=lambda contrast: not contrast.primary)
    reach = differences.reach(order)
    columns = (
        Column("Comparison"),
        Column("Difference, points", numeric=True),
        Column("p", numeric=True),
        Column("Smallest visible", numeric=True),
        Column("Right alone"),
        Column("Verdict"),
    )
    rows = [_contrast_row(contrast, reach) for contrast in order]
    return Table("Arms compared question by question, with 95 % intervals", columns, tuple(rows))


def gates_table(gates: Sequence[Gate]) -> Table:
    """Return the checks, failed ones first."""
    rows = [
        (
            Cell(gate.name.replace("_", " ")),
            Cell("✓ passed", tone="good") if gate.passed else Cell("✗ failed", tone="bad"),
            Cell(gate.detail),
        )
        for gate in sorted(gates, key=lambda gate: gate.passed)
    ]
    return Table("Checks before a number counts", (Column("Check"), Column("Result"), Column("Detail")), tuple(rows))


def costs_table(arms: Sequence[Arm], costs: Costs) -> Table:
    """Return what each arm costs before the first question and for every thousand."""
    tuned = any(is_tuned(arm.result) for arm in arms)
    titles = ["Preparation", "Per 1,000 questions", f"First {words.count(FIRST_QUESTIONS)} in all"]
    titles += ["Training", "Training memory"] if tuned else []
    rows = [(arm_cell(arm), *_cost_cells(arm, costs), *(_training_cells(arm) if tuned else ())) for arm in arms]
    columns = (Column("Arm"), *(Column(title, numeric=True) for title in titles))
    return Table("What each arm costs: machine time and its price", columns, tuple(rows))


def arms_table(arms: Sequence[Arm]) -> Table:
    """Return how the arms differ; everything else is the same for all."""
    titles = ("Arm", "What it does", "Checkpoint", "Retriever", "Passages", "Prompt", "Collection")
    rows = [
        (
            arm_cell(arm),
            Cell(arm.description),
            Cell(arm.result.checkpoint),
            Cell(arm.result.retriever),
            Cell(words.DASH if arm.result.retriever == "none" else str(arm.result.top_k)),
            Cell(arm.result.prompt),
            Cell(words.DASH if arm.result.retriever == "none" else arm.result.collection),
        )
        for arm in arms
    ]
    return Table("How the arms differ", tuple(map(Column, titles)), tuple(rows))


def metrics_glossary(arms: Sequence[Arm], primary: str) -> Table:
    """Return what each metric of the run means and where it comes from."""
    terms = [(name, describe(name)) for name in metric_names(arms, primary)]
    rows = [
        (
            Cell(term.label, "primary" if name == primary else ""),
            Cell(term.meaning or words.DASH),
            Cell(term.source or words.DASH),
        )
        for name, term in terms
    ]
    return Table("Metrics", (Column("Metric"), Column("Meaning"), Column("Source")), tuple(rows))


def trials_table(trials: Sequence[Trial]) -> Table:
    """Return the controlled experiments, each with its claim and what was measured."""
    rows = [(Cell(trial.claim), Cell(_measured(trial)), Cell(trial.expected), Cell(trial.verdict)) for trial in trials]
    titles = ("Claim", "Measured", "Expected", "Verdict")
    return Table("Controlled experiments", tuple(map(Column, titles)), tuple(rows))


def environment_table(results: Results) -> Table:
    """Return where the run was made and on which documents."""
    rows = [(Cell(name), Cell(value)) for name, value in results.environment.items()]
    rows += [(Cell("corpus"), Cell(results.corpus.name)), (Cell("documents hash"), Cell(results.corpus.hash))]
    return Table("Environment", (Column("What"), Column("Value")), tuple(rows))


def arm_cell(arm: Arm) -> Cell:
    """Return an arm's name with its marker."""
    return Cell(arm.name, family=arm.family)


def _estimate_cell(estimate: Estimate | None) -> Cell:
    return Cell(words.percent(estimate.value, 1), words.interval(estimate)) if estimate else Cell(words.DASH)


def _serving_cells(arm: Arm) -> tuple[Cell, Cell]:
    if not arm.result.scored:
        return Cell(words.DASH), Cell(words.DASH)
    latency, tokens = arm.result.latency_ms, arm.result.tokens
    return (
        Cell(words.milliseconds(latency.p50), f"p95 {words.milliseconds(latency.p95)}"),
        Cell(f"{words.count(tokens.prompt)} in", f"{words.count(tokens.completion)} out"),
    )


def _contrast_row(contrast: Contrast, reach: float) -> tuple[Cell, ...]:
    ends = f"{words.points(contrast.low)} to {words.points(contrast.high)}"
    declared = "declared in advance, " if contrast.primary else ""
    label = describe(contrast.metric).label
    return (
        Cell(f"{contrast.a} {words.MINUS} {contrast.b}", f"{declared}{label[0].lower()}{label[1:]}"),
        Cell(words.points(contrast.difference), ends, drawing=differences.difference(contrast, reach)),
        Cell(words.probability(contrast.p), _corrected(contrast)),
        Cell(f"{contrast.mde * 100:.1f}"),
        Cell(f"{contrast.a} {words.count(contrast.a_only)}, {contrast.b} {words.count(contrast.b_only)}"),
        Cell(f"{SYMBOLS[contrast.verdict]} {contrast.verdict}"),
    )


def _corrected(contrast: Contrast) -> str:
    return "" if contrast.p_adjusted is None else f"Holm {words.probability(contrast.p_adjusted)}"


def _cost_cells(arm: Arm, costs: Costs) -> tuple[Cell, ...]:
    cost = arm.result.cost
    preparation = costs.cell(cost.one_off_seconds, cost.one_off_money)
    if not arm.result.scored:
        return Cell(*preparation), Cell(words.DASH), Cell(words.DASH)
    serving = costs.cell(cost.seconds_per_1000_questions, cost.money_per_1000_questions)
    return Cell(*preparation), Cell(*serving), Cell(costs.shown(costs.first(cost)))


def _training_cells(arm: Arm) -> tuple[Cell, Cell]:
    cost = arm.result.cost
    return (
        Cell(words.DASH if cost.training_seconds is None else words.machine_time(cost.training_seconds)),
        Cell(words.DASH if cost.training_peak_bytes is None else words.gibibytes(cost.training_peak_bytes)),
    )


def _measured(trial: Trial) -> str:
    return "; ".join(f"{name.replace('_', ' ')} {_quantity(name, value)}" for name, value in trial.measured.items())


def _quantity(name: str, value: float | Estimate) -> str:
    if not isinstance(value, Estimate):
        return f"{value:g}".replace("-", words.MINUS)
    if name == "difference":
        return f"{words.points(value.value)} points ({words.points(value.low)} to {words.points(value.high)})"
    return f"{words.percent(value.value)} ({words.interval(value)})"
