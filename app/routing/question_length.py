"""The policy that sends long questions to a checkpoint of their own, such as a larger model."""

from __future__ import annotations

from collections.abc import Sequence

from app.routing import Choice, Inquiry, RoutingOptions
from app.routing.targets import other_checkpoint

WORDS = 25.0


class ByQuestionLength:
    """Questions of at least `threshold` words (25 by default) go to the other checkpoint."""

    def __init__(self, options: RoutingOptions) -> None:
        """Take the threshold in words, and the checkpoint for long questions."""
        self._other = options.checkpoint
        self._words = WORDS if options.threshold is None else options.threshold

    def choose(self, inquiry: Inquiry, served: Sequence[str]) -> Choice:
        """Return a checkpoint by the number of words."""
        words = len(inquiry.question.split())
        if words < self._words:
            return Choice(served[0], f"the question has {words} words, fewer than {self._words:g}")
        return Choice(other_checkpoint(self._other, served), f"the question has {words} words, {self._words:g} or more")
