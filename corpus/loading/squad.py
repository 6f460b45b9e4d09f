"""SQuAD v1.1 and v2 (Rajpurkar et al. 2016, arXiv 1606.05250): one JSON file.

Every paragraph becomes a document `Title-003`, by the title of its article and its number therein. Answers that occur
several times are taken once. Questions without an answer (v2's `is_impossible`) are left out: whether a model declines
is another matter than whether it knows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.loading.building import Documents, Questions
from corpus.loading.fields import Place
from corpus.loading.problems import Problems
from corpus.loading.text_files import LONE_SURROGATE, Row, has_lone_surrogate, read_text


class Squad:
    """Loads a SQuAD file, or a folder that holds one JSON file."""

    looks_for = "a SQuAD .json file, or a folder with one"

    def recognises(self, path: Path) -> bool:
        """Say whether the path is a corpus of this format."""
        return _file(path) is not None

    def load(self, path: Path, problems: Problems) -> tuple[Documents, Questions]:
        """Read the corpus, noting its problems."""
        file = _file(path)
        if file is None:
            problems.stop(path, None, f"is not {self.looks_for}")
        documents = Documents()
        questions = Questions(documents)
        asked: list[tuple[Row, Place]] = []
        numbers: Counter[str] = Counter()
        for place, title, paragraph in _paragraphs(file, problems):
            numbers[title] += 1
            document_id = f"{title}-{numbers[title]:03d}"
            documents.add(
                {"id": document_id, "title": title.replace("_", " "), "text": paragraph.get("context")}, place
            )
            asked.extend(_questions(paragraph, document_id, place))
        for row, place in asked:
            if row["document_ids"][0] in documents.by_id:
                questions.add(row, place)
        return documents, questions


def _file(path: Path) -> Path | None:
    files = [path] if path.is_file() else list(path.glob("*.json")) if path.is_dir() else []
    return files[0] if len(files) == 1 and files[0].suffix == ".json" else None


def _paragraphs(file: Path, problems: Problems) -> Iterator[tuple[Place, str, Row]]:
    """Yield (place, title of the article, paragraph)."""
    source = read_text(file, problems)
    if source is None:
        return
    try:
        tree: Any = json.loads(source)
    except json.JSONDecodeError as error:
        problems.add(file, error.lineno, f"no JSON at column {error.colno}: {error.msg}")
        return
    if has_lone_surrogate(source, tree):
        problems.add(file, None, LONE_SURROGATE)
        return
    articles = tree.get("data") if isinstance(tree, dict) else None
    if not isinstance(articles, list):
        problems.add(file, None, 'is no SQuAD: it must be an object with a list "data"')
        return
    for number, article in enumerate(articles):
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        if not isinstance(paragraphs, list):
            problems.add(file, f"data[{number}]", 'is no article: it must be an object with a list "paragraphs"')
            continue
        for index, paragraph in enumerate(paragraphs):
            place = Place(file, f"data[{number}].paragraphs[{index}]", problems)
            if isinstance(paragraph, dict):
                yield place, str(article.get("title") or f"article-{number + 1:03d}"), paragraph
            else:
                place.wrong('must be an object with "context" and "qas"')


def _questions(paragraph: Row, document_id: str, place: Place) -> Iterator[tuple[Row, Place]]:
    rows = paragraph.get("qas") or []
    if not isinstance(rows, list):
        place.wrong('"qas" must be a list of questions')
        return
    for number, asked in enumerate(rows):
        where = Place(place.path, f"{place.at}.qas[{number}]", place.problems)
        if not isinstance(asked, dict):
            where.wrong('must be an object with "id", "question" and "answers"')
        elif not asked.get("is_impossible"):
            spans = asked.get("answers")
            answers = (
                [span.get("text") for span in spans if isinstance(span, dict)] if isinstance(spans, list) else spans
            )
            yield {**asked, "answers": answers, "document_ids": [document_id]}, where
