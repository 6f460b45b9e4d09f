"""The charts of the first screen for plain text: tables whose last column is a bar of characters."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.report import words
from experiments.report.arms import Arm
from experiments.report.forgetting import Forgetting
from experiments.report.tables import Cell, Column, Table, arm_cell
from experiments.results import Estimate


def accuracy_table(arms: Sequence[Arm], metric: str) -> Table:
    """Return every arm's value of one metric, drawn with characters: the accuracy chart for plain text."""
    rows = [(arm_cell(arm), Cell(arm.role), *_bar_cells(arm.estimate(metric))) for arm in arms]
    return _bar_table("Accuracy", "Arm", rows)


def forgetting_table(forgetting: Forgetting | None) -> Table:
    """Return general knowledge before and after fine-tuning, drawn with characters."""
    rows = []
    if forgetting:
        rows = [
            (Cell("before"), Cell("base model"), *_bar_cells(forgetting.before)),
            (Cell("after"), Cell("fine-tuned model"), *_bar_cells(forgetting.after)),
        ]
    return _bar_table("General knowledge", "Fine-tuning", rows)


def _bar_table(caption: str, first: str, rows: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (Column(first), Column("What it is"), Column("Right", numeric=True), Column("0 to 100 %"))
    return Table(caption, columns, tuple(rows))


def _bar_cells(estimate: Estimate | None) -> tuple[Cell, Cell]:
    if estimate is None:
        return Cell("not scored"), Cell("")
    return Cell(words.percent(estimate.value), words.interval(estimate)), Cell(words.bar(estimate.value))
