"""Everything that a report says, put together once for both formats."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.report import charts, findings, method, tables, text_charts, words
from experiments.report.arms import Arm, describe_arms, primary_contrast
from experiments.report.charts import Chart
from experiments.report.costs import BreakEven, Costs, break_even
from experiments.report.examples import Example, Forgotten, choose_examples, choose_forgotten
from experiments.report.forgetting import Forgetting, measured_forgetting
from experiments.report.glossary import Term, describe
from experiments.report.inputs import RunInputs
from experiments.report.tables import Table
from experiments.results import Contrast, Gate, Results, Trial


@dataclass(frozen=True)
class Figure:
    """A finding, the chart that shows it and the table or text that says it."""

    finding: str
    chart: Chart | None


@dataclass(frozen=True)
class Page:
    """The content of `report.html` and `report.md`."""

    results: Results
    arms: tuple[Arm, ...]
    contrast: Contrast | None
    metric: Term
    costs: Costs
    facts: tuple[tuple[str, str], ...]
    failed: tuple[Gate, ...]
    accuracy: Figure
    cost: Figure
    forgetting: Forgetting | None
    forgotten: Figure
    break_even: BreakEven | None
    course: Figure | None
    trials: tuple[Trial, ...]
    examples: tuple[Example, ...]
    lost: tuple[Forgotten, ...]
    citation: str

    method: tuple[str, ...] = method.STATEMENTS

    @property
    def verdict(self) -> str:
        """The primary comparison in a few words, e.g. `▲ rag better than ft`; empty where nothing was compared."""
        return findings.verdict(self.contrast) if self.contrast else ""

    def table(self, name: str) -> Table:
        """Return a table by its name."""
        primary = self.results.primary_metric
        made = {
            "accuracy": lambda: text_charts.accuracy_table(self.arms, self.results.primary_metric),
            "forgetting": lambda: text_charts.forgetting_table(self.forgetting),
            "lost": lambda: tables.forgotten_table(self.lost),
            "metrics": lambda: tables.metrics_table(self.arms, primary),
            "contrasts": lambda: tables.contrasts_table(self.results.contrasts),
            "gates": lambda: tables.gates_table(self.results.gates),
            "costs": lambda: tables.costs_table(self.arms, self.costs),
            "arms": lambda: tables.arms_table(self.arms),
            "glossary": lambda: tables.metrics_glossary(self.arms, primary),
            "trials": lambda: tables.trials_table(self.trials),
            "environment": lambda: tables.environment_table(self.results),
        }
        return made[name]()


def build_page(run: RunInputs) -> Page:
    """Put the report of a run together."""
    results = run.results
    arms, contrast, costs = describe_arms(results), primary_contrast(results), Costs(results.cost)
    forgetting, course = measured_forgetting(run), break_even(arms, contrast, costs)
    return Page(
        results=results,
        arms=arms,
        contrast=contrast,
        metric=describe(results.primary_metric),
        costs=costs,
        facts=_facts(results, arms),
        failed=tuple(gate for gate in results.gates if not gate.passed),
        accuracy=_accuracy(results, arms, contrast),
        cost=_cost(results, arms, contrast, costs),
        forgetting=forgetting,
        forgotten=_forgotten(arms, forgetting),
        break_even=course,
        course=_course(results, course, costs),
        trials=tuple(results.trials.values()),
        examples=choose_examples(run, arms, contrast),
        lost=choose_forgotten(run),
        citation=_citation(results),
    )


def _facts(results: Results, arms: tuple[Arm, ...]) -> tuple[tuple[str, str], ...]:
    base = next((arm for arm in arms if arm.family in ("search", "reference")), None) or next(iter(arms), None)
    tuned = next((arm for arm in arms if arm.family in ("tuned", "both")), None)
    checkpoints = {"Model": base, "Fine-tuned": tuned if tuned is not base else None}
    return (
        ("Questions", words.count(results.corpus.questions)),
        ("Documents", words.count(results.corpus.documents)),
        *((label, arm.result.checkpoint) for label, arm in checkpoints.items() if arm),
        ("Date", words.day(results.created)),
    )


def _accuracy(results: Results, arms: tuple[Arm, ...], contrast: Contrast | None) -> Figure:
    finding = findings.accuracy(arms, contrast, results.primary_metric)
    return Figure(finding, charts.accuracy_chart(arms, results.primary_metric, finding) if arms else None)


def _cost(results: Results, arms: tuple[Arm, ...], contrast: Contrast | None, costs: Costs) -> Figure:
    finding = findings.cost(arms, contrast, costs)
    return Figure(finding, charts.cost_chart(arms, results.primary_metric, costs, finding))


def _forgotten(arms: tuple[Arm, ...], forgetting: Forgetting | None) -> Figure:
    if forgetting:
        finding = findings.forgetting(forgetting.before, forgetting.after)
        return Figure(finding, charts.forgetting_chart(forgetting, finding))
    if any(arm.family in ("tuned", "both") for arm in arms):
        return Figure("What fine-tuning made the model forget was not measured in this run", None)
    return Figure("Nothing was fine-tuned in this run, so nothing could be forgotten", None)


def _course(results: Results, course: BreakEven | None, costs: Costs) -> Figure | None:
    if course is None:
        return None
    note = results.cost.break_even_note
    return Figure(note, charts.break_even_chart(course, costs, note))


def _citation(results: Results) -> str:
    version = results.environment.get("openbook", "")
    return (
        f"Openbook {version}".strip() + f", report of the experiment “{results.experiment}”, "
        f"{words.day(results.created)}, documents {results.corpus.hash[:16]}."
    )
