"""Are the new weights live? A replica of the new version is asked what the version before was asked.

Texts alone do not tell: two versions may say the same, and one version may say two things, since sums come out a
little different in other batches. Log-probabilities do: the version before is asked twice, which is the noise; the new
one must differ from it by more than that, unless its weights are the same. Every rollout asks with words of its own in
front, so that no prompt is found in a cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from app.engine import Engine, Sampled
from app.errors import ProbeFailed
from app.schemas.prompt import Message
from app.schemas.rollout import Probe, ProbeResult

GENERAL = tuple(
    Probe(question=question)
    for question in (
        "What is the capital of France?",
        "Name a colour of the rainbow.",
        "How many days has a week?",
        "Write one sentence about the sea.",
        "What does a baker make?",
        "Which animal barks?",
        "Finish the sentence: The sun rises in the",
        "What do people do in a library?",
    )
)
MAX_TOKENS = 16
LEAST_DIFFERENCE = 1e-3
"""In nats: below this no training has happened."""
TIMES_NOISE = 2.0


@dataclass(frozen=True)
class Before:
    """What the version before answered, and how far it is from itself."""

    probes: tuple[Probe, ...]
    salt: str
    answers: tuple[Sampled, ...]
    noise: float


@dataclass(frozen=True)
class Compared:
    """What a replica of the new version answered."""

    results: tuple[ProbeResult, ...]
    difference: float


async def ask_before(engine: Engine, checkpoint: str, probes: Sequence[Probe]) -> Before:
    """Ask the version that answers until now, twice.

    Raises:
        AppError: Its engine does not answer.
    """
    asked, salt = (*GENERAL, *probes), secrets.token_hex(4)
    first, second = [await _ask(engine, checkpoint, asked, salt) for _ in range(2)]
    return Before(asked, salt, first, fmean(difference(a, b) for a, b in zip(first, second, strict=True)))


async def compare(engine: Engine, checkpoint: str, before: Before, same_weights: bool) -> Compared:
    """Ask a replica of the new version and compare.

    Raises:
        ProbeFailed: It does not serve the checkpoint, an answer lacks what it must contain, or the answers show that
            the weights are still those of before.
        AppError: It does not answer.
    """
    served = [model.name for model in await engine.models()]
    if checkpoint not in served:
        raise ProbeFailed(f"The replica at {engine.url} serves {', '.join(served)} and not {checkpoint}.")
    answers = await _ask(engine, checkpoint, before.probes, before.salt)
    pairs = zip(before.probes, before.answers, answers, strict=True)
    results = tuple(
        ProbeResult(
            question=probe.question,
            before=old.text,
            after=new.text,
            contains=probe.contains,
            difference=difference(old, new),
        )
        for probe, old, new in pairs
    )
    measured = fmean(result.difference for result in results)
    _require_contained(results)
    least = max(LEAST_DIFFERENCE, TIMES_NOISE * before.noise)
    if not same_weights and measured < least:
        raise ProbeFailed(
            f"The replica at {engine.url} answers {len(results)} probes as the version before does: their "
            f"log-probabilities differ by {measured:.2g} nats, and new weights would by {least:.2g} or more."
        )
    return Compared(results, measured)


def difference(a: Sampled, b: Sampled) -> float:
    """Return the mean absolute difference of the log-probabilities, in nats, up to the first token that differs."""
    pairs = list(zip(a.tokens, b.tokens, strict=False))
    until = next((number for number, (x, y) in enumerate(pairs) if x.text != y.text), len(pairs) - 1)
    differences = [abs(x.logprob - y.logprob) for x, y in pairs[: until + 1]]
    return fmean(differences) if differences else float(a.text != b.text)


def _require_contained(results: Sequence[ProbeResult]) -> None:
    for result in results:
        if result.contains is not None and result.contains.casefold() not in result.after.casefold():
            raise ProbeFailed(
                f"The probe {result.question!r} must be answered with {result.contains!r}, and the new version says "
                f"{result.after!r}."
            )


async def _ask(engine: Engine, checkpoint: str, probes: Sequence[Probe], salt: str) -> tuple[Sampled, ...]:
    answers = []
    for probe in probes:
        # The words that no cache knows stand before the general questions alone: a user's own probe is asked as it is.
        question = f"({salt}) {probe.question}" if probe.contains is None else probe.question
        answers.append(await engine.sample(checkpoint, [Message(role="user", content=question)], MAX_TOKENS))
    return tuple(answers)
