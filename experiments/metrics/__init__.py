"""Metrics: a new one is a file here and a line in the table."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.metrics.contains_answer import CONTAINS_ANSWER
from experiments.metrics.exact_match import EXACT_MATCH
from experiments.metrics.metric import Metric
from experiments.metrics.retrieval_recall import RETRIEVAL_RECALL
from experiments.metrics.token_f1 import TOKEN_F1

METRICS: Mapping[str, Metric] = {
    metric.name: metric for metric in (CONTAINS_ANSWER, EXACT_MATCH, TOKEN_F1, RETRIEVAL_RECALL)
}
