"""Responses to writes under the Idempotency-Key that they came with, for a day.

A client that did not get its response sends the request again with the same key, and gets the same response; what was
asked for happens once.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from app.errors import KeyInUse, KeyReused
from app.jobs.database import Database

KEPT_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Reply:
    """A response as it was sent."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes


@dataclass(frozen=True)
class Finished:
    """The first request with a key, and what came of it."""

    body: str
    """A hash of its body."""
    reply: Reply

    def check_body(self, body: str) -> None:
        """Raise `KeyReused` where the body of the present request is another one."""
        if body != self.body:
            raise KeyReused("This Idempotency-Key came with another body before. Take a new key for a new request.")


class Replies:
    """The responses of a day."""

    def __init__(self, database: Database) -> None:
        """Take where they are kept."""
        self._database = database

    def begin(self, caller: str, key: str, request: str) -> Finished | None:
        """Begin with the first request of a key, or return what came of it.

        Args:
            caller: who sends it; two callers may take the same key.
            key: the Idempotency-Key.
            request: method, path and query.

        Raises:
            KeyInUse: It is still under way.
            KeyReused: It was another method, path or query.
        """
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM responses WHERE begun < ?", (time.time() - KEPT_SECONDS,))
            found = connection.execute(
                "SELECT request, body, status, headers, content FROM responses WHERE caller = ? AND key = ?",
                (caller, key),
            ).fetchone()
            if found is None:
                connection.execute(
                    "INSERT INTO responses (caller, key, request, begun) VALUES (?, ?, ?, ?)",
                    (caller, key, request, time.time()),
                )
                return None
        first, body, status, headers, content = found
        if first != request:
            raise KeyReused(f"This Idempotency-Key came with {first} before. Take a new key for a new request.")
        if status is None:
            raise KeyInUse("The first request with this Idempotency-Key is still under way. Try again in a moment.")
        pairs = tuple((str(name), str(value)) for name, value in json.loads(headers))
        return Finished(body, Reply(status, pairs, content))

    def finish(self, caller: str, key: str, body: str, reply: Reply) -> None:
        """Keep what came of a request."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE responses SET body = ?, status = ?, headers = ?, content = ? WHERE caller = ? AND key = ?",
                (body, reply.status, json.dumps(reply.headers), reply.content, caller, key),
            )

    def forget(self, caller: str, key: str) -> None:
        """Let a key be used anew: nothing came of its request."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM responses WHERE caller = ? AND key = ?", (caller, key))

    def forget_broken(self) -> None:
        """Forget the requests that an earlier server did not finish."""
        if self._database.rows("SELECT 1 FROM responses WHERE status IS NULL LIMIT 1"):
            with self._database.transaction() as connection:
                connection.execute("DELETE FROM responses WHERE status IS NULL")
