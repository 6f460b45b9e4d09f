"""The policy that sends every question to the default checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from app.routing import Choice, Inquiry, RoutingOptions


class Fixed:
    """The default checkpoint answers everything."""

    def __init__(self, options: RoutingOptions | None = None) -> None:
        """Take the options, none of which matters here."""

    def choose(self, inquiry: Inquiry, served: Sequence[str]) -> Choice:  # noqa: ARG002
        """Return the default."""
        return Choice(served[0], "it is the default")
