"""Where an answer rests in the passages that were given: markers the model wrote, else its words found again.

A citation points to characters of the document, and never to a passage that the prompt did not hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from app.schemas.passage import Citation, Passage

MARKER = re.compile(r"[\[【](\d{1,3})[\]】]")
WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
EMPTY_WORDS = ARTICLES | {"yes", "no", "none", "unknown", "true", "false", "it", "i", "is", "not"}
"""An answer of these alone would be found in any passage and rests on none."""

LONG_RUN = 4
"""Words in a row that two texts hardly share by chance; a name and "is" are three."""


class _Word(NamedTuple):
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class _Run:
    place: int
    """Where it begins in the text."""
    wanted: int
    """Where it begins in the answer."""
    length: int


def cite(answer: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Return the citations of an answer, in the order of its markers, or of the passages that hold its words.

    A marker `[n]` cites the passage labelled n: the answer's words in it where they stand there, else all of it.
    Without a valid marker, each passage is cited that holds more than half of the answer's words one after another
    ("Captain Orla Venn" rests on "its keeper is Orla Venn"), or, of an answer in sentences, four of them. Words are
    compared without case and punctuation, and articles do not count.
    """
    words = [word.text for word in _words(MARKER.sub(" ", answer))]
    by_label = {passage.label: passage for passage in passages}
    labels = dict.fromkeys(int(label) for label in MARKER.findall(answer))
    marked = [by_label[label] for label in labels if label in by_label]
    if marked:
        return tuple(
            _citation(passage, _find(words, passage.text) or (0, len(passage.text)), "marker") for passage in marked
        )
    found = [(passage, span) for passage in passages if (span := _find(words, passage.text))]
    return tuple(_citation(passage, span, "verbatim") for passage, span in found)


def count_invalid_markers(answer: str, passages: Sequence[Passage]) -> int:
    """Return how many markers of an answer, each time they stand there, name none of its passages."""
    labels = {passage.label for passage in passages}
    return sum(int(label) not in labels for label in MARKER.findall(answer))


def _words(text: str) -> list[_Word]:
    found = (_Word(match[0].casefold(), match.start(), match.end()) for match in WORD.finditer(text))
    return [word for word in found if word.text not in ARTICLES]


def _find(words: Sequence[str], text: str) -> tuple[int, int] | None:
    """Return the character span of the longest run of `words` in `text`, if it is long enough to rest on."""
    there = _words(text)
    run = _longest_run(words, [word.text for word in there])
    long_enough = 2 * run.length > len(words) or run.length >= LONG_RUN
    if not long_enough or EMPTY_WORDS.issuperset(words[run.wanted : run.wanted + run.length]):
        return None
    return there[run.place].start, there[run.place + run.length - 1].end


def _longest_run(words: Sequence[str], text: Sequence[str]) -> _Run:
    """Return the longest run of words that both hold; of several, the first one of the text."""
    # Ratcliff and Obershelp's matcher; without its heuristic, which leaves frequent words out.
    match = SequenceMatcher(None, text, words, autojunk=False).find_longest_match()
    return _Run(place=match.a, wanted=match.b, length=match.size)


def _citation(passage: Passage, span: tuple[int, int], method: str) -> Citation:
    start, end = span
    return Citation.model_validate(
        {
            "label": passage.label,
            "passage_id": passage.id,
            "document_id": passage.document_id,
            "version": passage.version,
            "page": passage.page,
            "title": passage.title,
            "source": passage.source,
            "quote": passage.text[start:end],
            "start": passage.start + start,
            "end": passage.start + end,
            "method": method,
        }
    )
