"""Lexical retrieval: the passages that share words with the question, by SQLite's BM25 (k1 1.2, b 0.75).

Words count for what they are rare in: the whole store, for full text search keeps one table for all collections.
"""

from __future__ import annotations

from indexer.search.asked import Asked, Ranking
from indexer.search.scope import TABLES
from indexer.terms import query_terms

MOST_TERMS = 256


def find(asked: Asked, wanted: int) -> Ranking:
    """Return chunks that hold any of the question's words, with their BM25 score, above 0."""
    match = match_expression(asked.question)
    if not match:
        return ()
    condition = asked.scope.condition()
    rows = asked.connection.execute(
        # CROSS JOIN keeps the order of the tables: the words first, then the chunks that hold them.
        f"SELECT l.rowid, -bm25(lexical) AS score FROM lexical l CROSS JOIN {TABLES.replace('JOIN', 'CROSS JOIN')}"
        f" WHERE c.id = l.rowid AND lexical MATCH ? AND {condition.sql} ORDER BY score DESC, l.rowid LIMIT ?",
        (match, *condition.parameters, wanted),
    )
    return tuple((int(id_), float(score)) for id_, score in rows)


def match_expression(question: str) -> str:
    """Return a full text query that any of the question's words answers, or "" where it has none.

    Every word is quoted, so that nothing in a question is taken for an operator.
    """
    return " OR ".join(query_terms(question)[:MOST_TERMS])
