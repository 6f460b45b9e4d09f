"""Clients of every kind at once: some ask, some search, one uploads, one deletes; all look at what comes back."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from corpus.api_key import authorization
from experiments.bench.expected import Expected

COLLECTION = "soak"
POLL_SECONDS = 0.05
SHOWN = 20
NAMES = ("Orla", "Bertram", "Ines", "Tomas", "Maud", "Piet", "Sigrid", "Anselm")
PLACES = ("Arvik", "Brenn", "Calder", "Dunmor", "Elsen", "Farrow", "Gilsand", "Harne")


@dataclass
class Tally:
    """What was done, and what was wrong."""

    done: Counter[str] = field(default_factory=Counter)
    """Requests that came to their end, by kind, and passages and citations that were compared."""
    faults: Counter[str] = field(default_factory=Counter)
    """By kind."""
    examples: list[str] = field(default_factory=list)
    """The first of them, in words."""

    def fault(self, kind: str, words: str) -> None:
        """Count something wrong."""
        self.faults[kind] += 1
        if len(self.examples) < SHOWN:
            self.examples.append(f"{kind}: {words[:500]}")


class MixedLoad:
    """Everybody who uses the server, in one event loop."""

    def __init__(self, url: str, documents: int, seed: int = 0) -> None:
        """Take the server's address, and how many documents there are at most."""
        self.tally = Tally()
        self._http = httpx.AsyncClient(base_url=url, timeout=180.0, headers=authorization(), trust_env=False)
        self._ids = [f"beacon{number}" for number in range(documents)]
        self._expected = Expected()
        self._random = random.Random(seed)
        self._changing: set[str] = set()
        self._versions: Counter[str] = Counter()

    async def run(self, seconds: float, askers: int, searchers: int) -> None:
        """Fill the store, keep everybody busy for so long, and wait for what is under way."""
        async with self._http:
            await asyncio.gather(*(self._upload(document_id) for document_id in self._ids))
            ends_at = self._expected.clock() + seconds

            async def repeat(act: Callable[[], Awaitable[None]], pause_s: float) -> None:
                while self._expected.clock() < ends_at:
                    await self._guarded(act)
                    await asyncio.sleep(pause_s)

            await asyncio.gather(
                *(repeat(self._ask if number % 2 else self._ask_streaming, 0.0) for number in range(askers)),
                *(repeat(self._search, 0.1) for _ in range(searchers)),
                repeat(self._renew, 0.5),
                repeat(self._remove, 3.0),
            )

    async def _guarded(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except httpx.HTTPStatusError as error:
            self.tally.fault(f"HTTP {error.response.status_code}", error.response.text)
            await asyncio.sleep(1)
        except httpx.HTTPError as error:
            self.tally.fault("no answer", repr(error))
            await asyncio.sleep(1)

    async def _ask(self) -> None:
        asked = self._expected.clock()
        response = await self._http.post("/v1/answers", json=self._question(self._random.choice(self._ids)))
        self._check(response.raise_for_status().json(), asked)
        self.tally.done["asked"] += 1

    async def _ask_streaming(self) -> None:
        asked, final = self._expected.clock(), None
        body = {**self._question(self._random.choice(self._ids)), "stream": True}
        async with self._http.stream("POST", "/v1/answers", json=body) as response:
            if response.is_error:
                await response.aread()
            response.raise_for_status()
            event = ""
            async for line in response.aiter_lines():
                event = line.removeprefix("event: ") if line.startswith("event: ") else event
                if line.startswith("data: ") and event == "error":
                    self.tally.fault("error event", line)
                elif line.startswith("data: ") and event == "final":
                    final = json.loads(line.removeprefix("data: "))
        if final is None:
            self.tally.fault("no final event", str(body))
            return
        self._check(final, asked)
        self.tally.done["asked, streaming"] += 1

    async def _search(self) -> None:
        wanted, asked = self._random.choice(self._ids), self._expected.clock()
        body = {"question": wanted, "collection": COLLECTION, "retriever": "lexical", "top_k": 3}
        response = await self._http.post("/v1/search", json=body)
        found = response.raise_for_status().json()
        answered = self._expected.clock()
        self._check(found, asked)
        ids = [passage["document_id"] for passage in found["passages"]]
        if self._expected.must_be_found(wanted, asked, answered) and wanted not in ids:
            self.tally.fault("not found", f"{wanted} among {ids} at revision {found['index_revision']}")
        self.tally.done["searched"] += 1

    async def _renew(self) -> None:
        if (document_id := self._take()) is not None:
            try:
                await self._upload(document_id)
            finally:
                self._changing.discard(document_id)

    async def _remove(self) -> None:
        if (document_id := self._take()) is None:
            return
        try:
            if self._expected.current(document_id) is None:
                return
            self._expected.begin(document_id, None)
            response = await self._http.delete(f"/v1/documents/{document_id}", params={"collection": COLLECTION})
            response.raise_for_status()
            self._expected.done(document_id)
            self.tally.done["deleted"] += 1
        finally:
            self._changing.discard(document_id)

    def _take(self) -> str | None:
        """Take a document that nobody else changes."""
        free = [document_id for document_id in self._ids if document_id not in self._changing]
        if not free:
            return None
        document_id = self._random.choice(free)
        self._changing.add(document_id)
        return document_id

    async def _upload(self, document_id: str) -> None:
        text = self._text(document_id)
        self._expected.begin(document_id, text)
        body = {"id": document_id, "text": text, "collection": COLLECTION}
        response = (await self._http.post("/v1/documents", json=body)).raise_for_status()
        while (job := await self._job(response.headers["location"]))["status"] in ("queued", "running"):
            await asyncio.sleep(POLL_SECONDS)
        if job["status"] != "done" or job["records"][0]["status"] not in ("added", "updated"):
            self.tally.fault("upload", json.dumps(job))
            return
        self._expected.done(document_id)
        self.tally.done["uploaded"] += 1

    async def _job(self, location: str) -> dict[str, Any]:
        return dict((await self._http.get(location)).raise_for_status().json())

    def _text(self, document_id: str) -> str:
        self._versions[document_id] += 1
        keeper = f"{self._random.choice(NAMES)} {self._random.choice(PLACES)}-{self._versions[document_id]}"
        year = self._random.randint(1700, 1999)
        return (
            f"# The light {document_id}\n\nThe keeper of {document_id} is {keeper}. The tower of {document_id} was "
            f"built in {year} and stands {self._random.randint(12, 90)} metres above the water of the bay.\n"
        )

    def _question(self, document_id: str) -> dict[str, Any]:
        return {
            "question": f"Who is the keeper of {document_id}?",
            "collection": COLLECTION,
            "retriever": "hybrid",
            "top_k": 2,
            "decoding": {"max_tokens": 24},
        }

    def _check(self, answer: dict[str, Any], asked: float) -> None:
        """Compare every passage and citation with what was current between the question and now."""
        answered = self._expected.clock()
        for kind, name in (("passages", "text"), ("citations", "quote")):
            for each in answer.get(kind, ()):
                self.tally.done[kind] += 1
                if self._expected.is_stale(each["document_id"], each[name], each["start"], asked, answered):
                    self.tally.fault(f"stale {kind}", f"{each['document_id']} at {each['start']}: {each[name]!r}")
