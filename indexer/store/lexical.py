"""The full text index made anew from the chunks."""

from __future__ import annotations

import json

from indexer.store.database import transaction
from indexer.store.tables import LEXICAL_TABLE
from indexer.store.writer import StoreWriter, chunk_terms


def rebuild_lexical(writer: StoreWriter) -> None:
    """Throw the full text index away and fill a new one, in one transaction."""
    connection = writer.connection
    with transaction(connection, writer.folder):
        connection.execute("DROP TABLE lexical")
        connection.execute(LEXICAL_TABLE)
        rows = connection.execute(
            "SELECT c.id, v.title, c.heading_path, c.context, c.text FROM chunks c JOIN versions v ON v.key = c.version"
        )
        for id_, title, heading_path, context, text in rows:
            terms = chunk_terms(title, json.loads(heading_path), context, text)
            connection.execute("INSERT INTO lexical (rowid, terms) VALUES (?, ?)", (id_, terms))
