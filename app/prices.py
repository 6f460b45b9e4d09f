"""What an answer costs, where the server is told what tokens cost."""

from __future__ import annotations

from dataclasses import dataclass

from app.schemas.answer import Cost, Usage

PER = 1_000_000
MONEY_DECIMALS = 9


@dataclass(frozen=True)
class Prices:
    """Money for a million tokens; None where nothing was said."""

    currency: str = "USD"
    prompt: float | None = None
    completion: float | None = None

    def cost(self, usage: Usage) -> Cost | None:
        """Return (prompt tokens x price + completion tokens x price) / 1,000,000; None where neither has a price."""
        if self.prompt is None and self.completion is None:
            return None
        money = usage.prompt_tokens * (self.prompt or 0.0) + usage.completion_tokens * (self.completion or 0.0)
        return Cost(currency=self.currency, money=round(money / PER, MONEY_DECIMALS))
