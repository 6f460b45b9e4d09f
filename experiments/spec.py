"""An experiment as its YAML file describes it: a corpus, arms, and the comparison that was declared in advance.

The models check each value; `spec_file.py` reads the file, checks what spans several values and reports all faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from app.schemas.arm import ArmOptions, Decoding, RetrieverName
from app.schemas.schema import Schema
from corpus.loading import LOADERS
from experiments.finetune.job import TrainingSettings
from experiments.finetune.recipes import RECIPES
from experiments.metrics import METRICS
from terminal import did_you_mean

PROMPTS = ("closed_book", "fenced", "passages", "worked_examples")
"""The prompts that the app offers; a test holds them against its table."""

CorpusName = Literal["main", "other"]
"""`main`: the corpus the questions are about. `other`: the one whose passages are of no help."""


def one_of(kind: str, options: Iterable[str]) -> AfterValidator:
    """Return a validator that accepts the names in `options` and suggests the nearest for any other."""
    names = tuple(options)

    def check(value: str) -> str:
        if value not in names:
            hint = did_you_mean(value, names)
            text = f"there is no {kind} {value!r}.{hint} Available: {', '.join(names)}"
            raise PydanticCustomError("unknown_name", "{text}", {"text": text})
        return value

    return AfterValidator(check)


def _folder(info: ValidationInfo) -> Path:
    """Return the specification's folder, from the context of its validation."""
    folder = (info.context or {}).get("folder", Path())
    assert isinstance(folder, Path)
    return folder


MetricName = Annotated[str, one_of("metric", METRICS)]
PromptName = Annotated[str, one_of("prompt", PROMPTS)]
RecipeName = Annotated[str, one_of("recipe", RECIPES)]


class World(Schema):
    """An invented world, generated when the experiment runs."""

    seed: int = Field(ge=0)
    documents: int | None = Field(default=None, ge=1)
    """About how many documents to write; None takes the generator's own size."""


class CorpusSource(Schema):
    """Where a corpus comes from: files (`path`, and `format`) or an invented world (`world`)."""

    path: Path | None = None
    """Relative to the specification's folder."""
    format: Annotated[str, one_of("format", LOADERS)] | None = None
    """None finds it out from the files' names."""
    world: World | None = None

    @field_validator("path")
    @classmethod
    def _from_the_folder_of_the_spec(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        return None if path is None else (_folder(info) / path).resolve()

    @model_validator(mode="after")
    def _one_source(self) -> CorpusSource:
        if (self.path is None) == (self.world is None):
            raise ValueError("give either 'path' or 'world'")
        return self


class QuestionChoice(Schema):
    """Which of the corpus's test questions are asked."""

    limit: int | None = Field(default=None, ge=1)
    """Only the first so many; None asks them all."""


class Price(Schema):
    """What an hour of the machine costs."""

    currency: str = "USD"
    per_hour: float = Field(default=0.10, ge=0)


class Primary(Schema):
    """The one comparison that the experiment was set up for: `a` minus `b`."""

    a: str
    b: str
    metric: MetricName = "contains_answer"


class Finetune(TrainingSettings):
    """How the fine-tuned checkpoint is made."""

    recipe: RecipeName = "question_answer"

    @property
    def settings(self) -> TrainingSettings:
        """The trainer's part of it."""
        return TrainingSettings.model_validate(self.model_dump(exclude={"recipe"}))


class Arm(Schema):
    """One way of answering."""

    retriever: Literal["none", "dense", "lexical", "hybrid", "oracle"]
    """`oracle`: exactly the passage that holds the answer, chosen by the harness. For the others see
    `app.schemas.arm`."""
    top_k: int = Field(default=3, ge=1, le=50)
    corpus: CorpusName = "main"
    """Whose passages are searched."""
    checkpoint: Literal["base", "finetuned"] = "base"
    prompt: PromptName | None = None
    decoding: Decoding = Decoding()

    def options(self) -> ArmOptions:
        """Return what of the arm goes into every request."""
        retriever: RetrieverName = "given" if self.retriever == "oracle" else self.retriever
        return ArmOptions(retriever=retriever, top_k=self.top_k, prompt=self.prompt, decoding=self.decoding)


class Spec(Schema):
    """An experiment."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    corpus: CorpusSource
    other_corpus: CorpusSource | None = None
    model: str | None = None
    """A checkpoint's label, a path or a Hugging Face id; None takes the embedded default. A path that begins with ./ or
    ../ is relative to the specification's folder."""
    embedder: str | None = None
    """A path, written as for `model`, or a Hugging Face id; None takes the embedded default."""
    chunk_tokens: int | None = Field(default=None, ge=8)
    """The longest chunk of the index, in tokens of the embedder; None takes the indexer's default."""
    questions: QuestionChoice = QuestionChoice()
    concurrency: int = Field(default=16, ge=1, le=1024)
    """Questions under way at once."""
    price: Price = Price()
    margin: float = Field(default=0.05, gt=0, lt=1)
    """Differences of the primary metric smaller than this count as none."""
    primary: Primary
    finetune: Finetune = Finetune()
    panel: Literal["general"] | None = "general"
    """Questions of general knowledge asked before and after fine-tuning; None leaves the trial out."""
    arms: dict[str, Arm] = Field(min_length=1)

    @field_validator("model", "embedder")
    @classmethod
    def _path_from_the_folder_of_the_spec(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None or not value.startswith(("./", "../")):
            return value
        return str(_folder(info) / value)

    @property
    def finetuned_arms(self) -> tuple[str, ...]:
        """Names of the arms that the fine-tuned checkpoint answers."""
        return tuple(name for name, arm in self.arms.items() if arm.checkpoint == "finetuned")
