"""Another Openbook, small enough for a test: the REST contract over a real HTTP server, with word overlap for a mind.

It retrieves the document that shares most words with the question and answers with the sentence that does; its
fine-tuned checkpoint has learnt the training rows by heart. It can be told to refuse, to fail or to die.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlparse

from app.schemas.answer import Answer, AnswerRequest, Timing, Usage
from app.schemas.checkpoint import CheckpointCard
from app.schemas.document import ChunkView, DocumentDetail, DocumentPage, DocumentView
from app.schemas.health import Readiness
from app.schemas.passage import Passage
from app.schemas.prompt import Message, Prompt
from corpus.normalisation import normalised_words
from corpus.schema import Document
from experiments.client import Client
from experiments.commands import Indexing
from experiments.finetune.job import read_job
from experiments.finetune.rows import read_rows

BASE = "base@1"


class SmallOpenbook:
    """The commands of a run, done in this process."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, Document]] = {}
        self.learnt: dict[str, dict[str, str]] = {BASE: {}}
        self.served: list[str] = []
        self.asked: Counter[tuple[str, str]] = Counter()
        """(checkpoint, question) to how often it was answered."""
        self.ingested: list[str] = []
        self.trained: list[str] = []
        self.die_after: int | None = None
        """Answers until the engine is gone."""
        self.seconds = 0.0
        """How long an answer takes."""
        self.fail_first = 0
        """How many requests get 503 before any is answered."""
        self.refuse: set[str] = set()
        """Questions that get 422."""
        self.broken: set[str] = set()
        """Questions that always get 503."""
        self.drop_document: str | None = None
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def ingest(self, documents: Path, store: Path, collection: str, indexing: Indexing, log: Path) -> None:
        read = [Document.model_validate_json(line) for line in documents.read_text(encoding="utf-8").splitlines()]
        self.collections[collection] = {each.id: each for each in read if each.id != self.drop_document}
        self.ingested.append(collection)

    @contextmanager
    def serve(self, model: str | None, store: Path, embedder: str | None, log: Path) -> Iterator[Client]:
        checkpoint = model or BASE
        self.served.append(checkpoint)
        http = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(self, checkpoint))
        http.daemon_threads = True
        thread = threading.Thread(target=lambda: http.serve_forever(poll_interval=0.01))
        thread.start()
        try:
            with Client(f"http://127.0.0.1:{http.server_port}") as client:
                yield client
        finally:
            http.shutdown()
            http.server_close()
            thread.join()

    def finetune(self, job: Path, log: Path) -> None:
        planned = read_job(job)
        rows = read_rows(planned.rows, planned.training_hash)
        self.learnt[planned.label] = {
            " ".join(normalised_words(row.messages[-1].content)): row.completion for row in rows
        }
        card = CheckpointCard(
            name=planned.name,
            version=planned.version,
            base=planned.base_label,
            recipe=planned.recipe,
            created=datetime(2026, 11, 29, tzinfo=UTC),
            weights_hash="0" * 64,
            documents_hash=planned.documents_hash,
            training_hash=planned.training_hash,
            training_seconds=60.0,
            training_peak_bytes=2**30,
        )
        planned.checkpoint.mkdir(parents=True)
        (planned.checkpoint / "checkpoint.json").write_text(card.model_dump_json(), encoding="utf-8")
        self.trained.append(planned.label)

    def prompt(self, request: AnswerRequest) -> Prompt:
        passages = self._passages(request)
        book = "\n".join(passage.text for passage in passages)
        messages = (Message(role="user", content=f"{book}\n{request.question}".strip()),)
        return Prompt(messages=messages, prompt="passages@1" if passages else "closed_book@1", passages=passages)

    def answer(self, request: AnswerRequest, checkpoint: str) -> Answer:
        prompt = self.prompt(request)
        self.asked[checkpoint, request.question] += 1
        sentences = [s for passage in prompt.passages for s in passage.text.split(". ")]
        known = self.learnt[checkpoint]
        heard = max(known, key=lambda question: overlap(question, request.question), default="")
        text = max(sentences, key=lambda s: overlap(s, request.question)) if sentences else known.get(heard, "unknown")
        return Answer(
            id="a",
            question=request.question,
            answer=text,
            citations=(),
            passages=prompt.passages,
            checkpoint=checkpoint,
            retriever=request.retriever,
            prompt=prompt.prompt,
            collection=request.collection,
            index_generation=1,
            finish_reason="stop",
            usage=Usage(prompt_tokens=len(prompt.messages[0].content.split()), completion_tokens=len(text.split())),
            timing=Timing(search_ms=1.0, generate_ms=1.0, total_ms=2.0),
        )

    @contextmanager
    def one_request(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    def chunks(self, collection: str) -> list[tuple[int, Document]]:
        return list(enumerate(self.collections[collection].values(), 1))

    def _passages(self, request: AnswerRequest) -> tuple[Passage, ...]:
        if request.retriever == "none":
            return ()
        chunks = self.chunks(request.collection)
        if request.retriever == "given":
            chosen = [(id, document) for id, document in chunks if id in request.passage_ids]
        else:
            chosen = sorted(chunks, key=lambda chunk: -overlap(chunk[1].text, request.question))[: request.top_k]
        return tuple(
            Passage(
                label=label,
                id=id,
                document_id=document.id,
                title="",
                source=document.id,
                text=document.text,
                start=0,
                end=len(document.text),
                score=1.0,
            )
            for label, (id, document) in enumerate(chosen, 1)
        )


def overlap(one: str, other: str) -> int:
    return len(set(normalised_words(one)) & set(normalised_words(other)))


def handler_for(openbook: SmallOpenbook, checkpoint: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlparse(self.path)
            collection = parse_qs(url.query).get("collection", [""])[0]
            if url.path == "/readyz":
                if openbook.die_after is not None and openbook.die_after <= 0:
                    return self._send(503, {"title": "Not ready", "status": 503, "detail": "The engine died."})
                ready = Readiness(checkpoint=checkpoint, engine_url="", embedder="overlap", collections={})
                return self._send(200, ready.model_dump(mode="json"))
            if url.path == "/v1/documents":
                return self._list(collection, parse_qs(url.query).get("cursor", [""])[0])
            return self._show(collection, unquote(url.path.removeprefix("/v1/documents/")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = AnswerRequest.model_validate_json(body)
            if self.path == "/v1/prompts":
                return self._send(200, openbook.prompt(request).model_dump(mode="json"))
            with openbook.one_request():
                time.sleep(openbook.seconds)
                if request.question in openbook.refuse:
                    return self._send(422, {"title": "Too long", "status": 422, "detail": "No room."})
                if openbook.fail_first > 0 or request.question in openbook.broken:
                    openbook.fail_first -= 1
                    return self._send(503, {"title": "Busy", "status": 503, "detail": "Try later."})
                if openbook.die_after is not None:
                    openbook.die_after -= 1
                    if openbook.die_after < 0:
                        return self._send(503, {"title": "Gone", "status": 503, "detail": "The engine died."})
                return self._send(200, openbook.answer(request, checkpoint).model_dump(mode="json"))

        def _list(self, collection: str, after: str) -> None:
            views = [view_of(document, collection) for _, document in openbook.chunks(collection)]
            left = [view for view in sorted(views, key=lambda view: view.id) if view.id > after]
            page = DocumentPage(
                documents=tuple(left[:2]), total=len(views), next_cursor=left[1].id if len(left) > 2 else None
            )
            self._send(200, page.model_dump(mode="json"))

        def _show(self, collection: str, id: str) -> None:
            number, document = next(chunk for chunk in openbook.chunks(collection) if chunk[1].id == id)
            chunk = ChunkView(id=number, text=document.text, start=0, end=len(document.text), tokens=9)
            detail = DocumentDetail(**view_of(document, collection).model_dump(), text=document.text, chunks=(chunk,))
            self._send(200, detail.model_dump(mode="json"))

        def _send(self, status: int, content: object) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def view_of(document: Document, collection: str) -> DocumentView:
    return DocumentView(
        id=document.id,
        collection=collection,
        title="",
        source=document.id,
        content_hash=document.content_hash,
        characters=len(document.text),
        chunk_count=1,
        effective=None,
        authority=0,
        indexed=datetime(2026, 11, 29, tzinfo=UTC),
    )
