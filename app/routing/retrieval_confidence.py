"""The policy that sends a question whose passages fit it badly to a checkpoint of its own, such as a fine-tuned one."""

from __future__ import annotations

from collections.abc import Sequence

from app.routing import Choice, Inquiry, RoutingOptions
from app.routing.targets import other_checkpoint

COSINE = 0.5
MEASURED = ("dense",)
"""Retrievers whose scores are cosine similarities, which a threshold can be set for."""


class ByRetrievalConfidence:
    """Questions whose best passage scores below `threshold` (cosine similarity, 0.5 by default) go to the other one."""

    def __init__(self, options: RoutingOptions) -> None:
        """Take the threshold as a cosine similarity, and the checkpoint for what is below it."""
        self._other = options.checkpoint
        self._cosine = COSINE if options.threshold is None else options.threshold

    def choose(self, inquiry: Inquiry, served: Sequence[str]) -> Choice:
        """Return a checkpoint by the best passage's score; where nothing was measured, the default."""
        if inquiry.retriever not in MEASURED:
            return Choice(served[0], f"the retriever {inquiry.retriever!r} gives no cosine similarity to go by")
        best = max(inquiry.scores, default=None)
        if best is not None and best >= self._cosine:
            return Choice(served[0], f"the best passage scores {best:.2f}, {self._cosine:g} or more")
        found = (
            "no passage was found" if best is None else f"the best passage scores {best:.2f}, under {self._cosine:g}"
        )
        return Choice(other_checkpoint(self._other, served), found)
