"""How a server answers, whatever a request says: its prompts, what it says to nothing found, prices, and patience."""

from __future__ import annotations

from dataclasses import dataclass

from app.prices import Prices
from app.prompting.book import PromptBook, load_prompts
from app.prompting.template import Template
from app.settings import Settings


@dataclass(frozen=True)
class Policy:
    """What the settings say about answers."""

    prompts: PromptBook
    with_passages: Template
    without_passages: Template
    unanswerable_text: str
    """The answer where a search finds nothing."""
    answer_without_passages: bool
    """Ask the engine even then, with the prompt without passages."""
    prices: Prices
    deadline_s: float
    """The most that a question may take, waiting included."""

    def template(self, name: str | None, passages: bool) -> Template:
        """Return the prompt that a request names, or of one that names none, with or without passages.

        Raises:
            PromptNotFound: It names one that does not exist.
        """
        if name is not None:
            return self.prompts.find(name)
        return self.with_passages if passages else self.without_passages

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """Return what the settings say.

        Raises:
            PromptFileInvalid: A file of their folder of prompts is no template.
            PromptNotFound: They name a prompt that does not exist.
        """
        prompts = load_prompts(settings.prompts)
        return cls(
            prompts,
            prompts.find(settings.prompt),
            prompts.find("closed_book"),
            settings.unanswerable_text,
            settings.answer_without_passages,
            Prices(settings.currency, settings.price_prompt, settings.price_completion),
            settings.deadline_s,
        )
