"""Questions about facts, in training wordings and in test wordings that never meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from corpus.schema import Question, Split
from corpus.world.world import Fact, World

TRAINING_WORDINGS = 3
TEST_WORDINGS = 2


def questions(world: World, fact: Fact, index: int, document_ids: Iterable[str]) -> Iterator[Question]:
    """Ask for a fact of the district `index` in every wording dealt to it; the documents are the evidence."""
    key = f"{fact.kind.name}.{fact.relation.name}"
    wordings: dict[Split, list[str]] = {
        "train": world.deal_hand(f"{key}/train", fact.relation.training, index, TRAINING_WORDINGS),
        "test": world.deal_hand(f"{key}/test", fact.relation.test, index, TEST_WORDINGS),
    }
    evidence = tuple(document_ids)
    for split, templates in wordings.items():
        for number, template in enumerate(templates, start=1):
            yield Question(
                id=f"{fact.id}.{split}-{number}",
                question=template.format_map(fact.subject.slots),
                answers=fact.value.answers,
                document_ids=evidence,
                split=split,
                fact_id=fact.id,
            )
