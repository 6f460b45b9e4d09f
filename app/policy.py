"""How a server answers, whatever a request says: its prompts, what it says to nothing found, prices, and patience."""

from __future__ import annotations

from dataclasses import dataclass

from app.prices import Prices
from app.prompting import PromptTemplate
from app.prompting.assemble import find_prompt
from app.settings import Settings


@dataclass(frozen=True)
class Policy:
    """What the settings say about answers."""

    with_passages: PromptTemplate
    without_passages: PromptTemplate
    unanswerable_text: str
    """The answer where a search finds nothing."""
    answer_without_passages: bool
    """Ask the engine even then, with the prompt without passages."""
    prices: Prices
    deadline_s: float
    """The most that a question may take, waiting included."""

    def template(self, passages: bool) -> PromptTemplate:
        """Return the prompt of a request that names none, with or without passages."""
        return self.with_passages if passages else self.without_passages

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """Return what the settings say.

        Raises:
            PromptNotFound: They name a prompt that does not exist.
        """
        return cls(
            find_prompt(settings.prompt),
            find_prompt("closed_book"),
            settings.unanswerable_text,
            settings.answer_without_passages,
            Prices(settings.currency, settings.price_prompt, settings.price_completion),
            settings.deadline_s,
        )
