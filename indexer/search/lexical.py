"""Lexical retrieval: the passages that share words with the question, by SQLite's BM25 (k1 1.2, b 0.75).

Words count for what they are rare in: the whole store, for full text search keeps one table for all collections. In a
large store the commonest words of a question, which say least and cost most, are left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from indexer.search.asked import Asked, Ranking
from indexer.search.scope import TABLES
from indexer.search.terms import query_terms

MOST_TERMS = 64
"""Different words of a question that are looked at."""
MOST_ROWS = 20_000
"""Passages that a question may have scored: 50 ms. With 100,000 passages, one with "the" and "is" took 230 ms."""


def find(asked: Asked, wanted: int) -> Ranking:
    """Return chunks that hold any of the question's words, with their BM25 score, above 0."""
    terms = telling(asked.connection, query_terms(asked.question)[:MOST_TERMS])
    if not terms:
        return ()
    condition = asked.scope.condition()
    rows = asked.connection.execute(
        # CROSS JOIN keeps the order of the tables: the words first, then the chunks that hold them.
        f"SELECT l.rowid, -bm25(lexical) AS score FROM lexical l CROSS JOIN {TABLES.replace('JOIN', 'CROSS JOIN')}"
        f" WHERE c.id = l.rowid AND lexical MATCH ? AND {condition.sql} ORDER BY score DESC, l.rowid LIMIT ?",
        (any_of(terms), *condition.parameters, wanted),
    )
    return tuple((int(id_), float(score)) for id_, score in rows)


def any_of(terms: Sequence[str]) -> str:
    """Return a full text query that any of the terms answers, which are quoted: no question can name an operator."""
    return " OR ".join(terms)


def telling(connection: sqlite3.Connection, terms: Sequence[str]) -> list[str]:
    """Return the terms that are searched for: all, or the rarest ones that `MOST_ROWS` passages hold between them.

    At least one is kept, of those that any passage holds.
    """
    counted = sorted((_count(connection, term), term) for term in terms)
    kept: list[str] = []
    rows = 0
    for count, term in counted:
        rows += count
        if rows > MOST_ROWS and kept:
            break
        if count:
            kept.append(term)
    return kept


def _count(connection: sqlite3.Connection, term: str) -> int:
    """Return how many passages hold a term, counted no further than needed."""
    query = "SELECT count(*) FROM (SELECT 1 FROM lexical WHERE lexical MATCH ? LIMIT ?)"
    return int(connection.execute(query, (term, MOST_ROWS + 1)).fetchone()[0])
