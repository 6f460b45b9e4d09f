"""Correct answers within the deadline per second, while questions come as a Poisson process.

A question counts from the moment at which it was to be sent. One that is answered late is worth nothing, and so is one
that is answered wrongly or not at all.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from corpus.schema import Question
from experiments.bench.arrivals import poisson, zipf
from experiments.bench.latencies import Latencies
from experiments.bench.load import Target, open_loop
from experiments.bench.measured_way import score
from experiments.bench.ways import Way

Traffic = Literal["different", "repeated"]
TRAFFICS: tuple[Traffic, ...] = ("different", "repeated")
"""Every question is another one; or subjects are asked about as often as they are popular (Zipf)."""


@dataclass(frozen=True)
class Load:
    """Questions and when they come: the same for every way."""

    traffic: Traffic
    per_second: float
    of_capacity: float
    """The rate as a share of what plain retrieval answers in a closed loop."""
    moments: tuple[float, ...]
    questions: tuple[Question, ...]
    seconds: float


@dataclass(frozen=True)
class Goodput:
    """What a way made of a load."""

    way: str
    traffic: Traffic
    of_capacity: float
    per_second: float
    """Questions that came."""
    questions: int
    in_time: int
    """Answered within the deadline."""
    correct_in_time: int
    goodput: float
    """Correct answers within the deadline per second."""
    latency: Latencies | None
    """Of what was answered at all."""


def load(traffic: Traffic, questions: Sequence[Question], capacity: float, share: float, seconds: float) -> Load:
    """Draw a load. The traffic of different questions ends early where there are no more questions."""
    seed = round(share * 1000)
    moments = poisson(share * capacity, seconds, seed)
    if traffic == "different":
        asked = random.Random(seed).sample(list(questions), len(questions))[: len(moments)]
    else:
        subjects = [tuple(group) for _, group in groupby(sorted(questions, key=_subject), key=_subject)]
        generator = random.Random(seed)
        asked = [generator.choice(subject) for subject in zipf(subjects, len(moments), seed)]
    moments = moments[: len(asked)]
    length = seconds if len(moments) < len(questions) else moments[-1]
    return Load(traffic, share * capacity, share, moments, tuple(asked), length)


async def measure(way: Way, drawn: Load, deadline_s: float, openbook: Target) -> Goodput:
    """Send a load one way. The server gives up a question when its deadline is over."""
    calls = [way.call(question, timeout_s=deadline_s) for question in drawn.questions]
    batch = await open_loop(openbook, calls, drawn.moments)
    asked = list(zip(drawn.questions, batch.outcomes, strict=True))
    in_time = [(each, outcome) for each, outcome in asked if outcome.ok and outcome.latency_ms <= 1000 * deadline_s]
    correct = int(sum(score(outcome, question) for question, outcome in in_time))
    answered = [outcome.latency_ms for outcome in batch.outcomes if outcome.ok]
    return Goodput(
        way=way.name,
        traffic=drawn.traffic,
        of_capacity=drawn.of_capacity,
        per_second=len(calls) / drawn.seconds,
        questions=len(calls),
        in_time=len(in_time),
        correct_in_time=correct,
        goodput=correct / drawn.seconds,
        latency=Latencies.of(answered) if answered else None,
    )


def _subject(question: Question) -> tuple[str, ...]:
    return question.document_ids
