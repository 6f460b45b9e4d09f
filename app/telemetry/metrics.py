"""What `GET /metrics` shows: counters, histograms and gauges in Prometheus's text format.

Each app has a registry of its own, so that two of them in one process do not mix. The values of every label are few:
routes are templates, and of keys the first hundred have a name. docs/observability.md describes them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from app.access.caller import current_caller
from app.chat.arms import arm_of
from app.flow.admission import Admission
from app.schemas.answer import Answer
from app.schemas.job import JobStatus
from app.stages import Stage
from app.telemetry.bounded import Bounded
from app.telemetry.record import RequestRecord, current_record
from app.tracing import Tracing, tracing_in

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
SCORES = (0.0, 0.01, 0.02, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Cosines lie below 1, sums of reciprocal ranks below 0.04, and BM25 has no upper end."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Telemetry:
    """The metrics of one app."""

    def __init__(self, tracing: Tracing | None = None) -> None:
        """Begin at zero, and take what makes traces, where something does."""
        self._tracing = tracing
        # The times at which series began double the text and tell nothing that a scraper needs.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._keys = Bounded()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"openbook_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = SECONDS) -> Histogram:
            return Histogram(f"openbook_{name}", text, labels, buckets=buckets, registry=registry)

        self._requests = counter("http_requests", "HTTP requests.", "route", "method", "status")
        self._request_seconds = histogram("http_request_seconds", "From request to the end of its answer.", "route")
        self._key_requests = counter("key_requests", "HTTP requests of each key.", "key")
        self._problems = counter("problems", "Requests refused or failed.", "problem", "status", "key")
        self._cancelled = counter("cancelled", "Requests whose client left before the answer was there.", "route")
        self._answers = counter("answers", "Answered questions.", "arm", "checkpoint", "key")
        self._tokens = counter("tokens", "Tokens of answered questions.", "kind", "arm", "checkpoint", "key")
        self._unanswerable = counter("unanswerable", "Questions without anything to answer from.", "reason")
        self._citations = counter("citations", "Citations of answered questions.", "validity")
        self._stage_seconds = histogram("stage_seconds", "Time in each stage of a question.", "stage", "arm")
        self._top_score = histogram("top_score", "Score of the best passage.", "retriever", buckets=SCORES)
        self._gauges = {
            name: Gauge(f"openbook_{name}", text, registry=registry)
            for name, text in (
                ("engine_up", "1 where the engine answers."),
                ("questions_in_flight", "Questions being answered."),
                ("questions_queued", "Questions that wait for a place."),
            )
        }
        self._jobs = Gauge("openbook_jobs", "Uploads, by what became of them.", ["status"], registry=registry)
        self._index = {
            name: Gauge(f"openbook_index_{name}", text, ["collection"], registry=registry)
            for name, text in (("generation", "The published generation."), ("revision", "Commits of the collection."))
        }

    def watch(self, admission: Admission) -> None:
        """Show at each scrape how many questions are being answered, and how many wait."""
        self._gauges["questions_in_flight"].set_function(lambda: admission.working)
        self._gauges["questions_queued"].set_function(lambda: admission.waiting)

    @contextmanager
    def traced(self, record: RequestRecord) -> Iterator[None]:
        """Have the work of the block belong to a span of the request, where traces are on."""
        if self._tracing is None:
            yield
            return
        name = lambda: f"{record.method} {record.route}"  # noqa: E731 - the route is known at the end
        with self._tracing.request(name, record.trace_headers, record.fields) as trace, tracing_in(trace):
            yield

    def close(self) -> None:
        """Send what has been traced."""
        if self._tracing is not None:
            self._tracing.close()

    def ended(self, record: RequestRecord) -> None:
        """Count an HTTP request."""
        route, status, key = record.route, str(record.status), self._keys.of(record.key)
        self._requests.labels(route, record.method if record.method in METHODS else "other", status).inc()
        self._request_seconds.labels(route).observe(record.seconds)
        self._key_requests.labels(key).inc()
        if record.problem:
            self._problems.labels(record.problem, status, key).inc()
        if record.is_cancelled:
            self._cancelled.labels(route).inc()

    def answered(self, answer: Answer) -> None:
        """Count an answer to the current caller, and note it in the record of the request."""
        current_record().take(answer)
        name, arm = self._keys.of(current_caller().name), arm_of(answer.retriever)
        for stage in get_args(Stage):
            if milliseconds := getattr(answer.timing, f"{stage}_ms"):
                self._stage_seconds.labels(stage, arm).observe(milliseconds / 1000)
        self._answers.labels(arm, answer.checkpoint, name).inc()
        for kind, count in (("prompt", answer.usage.prompt_tokens), ("completion", answer.usage.completion_tokens)):
            self._tokens.labels(kind, arm, answer.checkpoint, name).inc(count)
        self._citations.labels("valid").inc(len(answer.citations))
        self._citations.labels("invalid").inc(answer.invalid_citations)
        if answer.nothing_found:
            self._unanswerable.labels(answer.nothing_found).inc()
        if answer.passages and answer.retriever not in ("none", "given"):
            self._top_score.labels(answer.retriever).observe(max(passage.score for passage in answer.passages))

    def exposition(
        self, engine_up: bool, generations: dict[str, int], revisions: dict[str, int], jobs: dict[str, int]
    ) -> bytes:
        """Return all metrics as text, with the state of engine, index and jobs as it is now."""
        self._gauges["engine_up"].set(engine_up)
        for status in get_args(JobStatus):
            self._jobs.labels(status).set(jobs.get(status, 0))
        for gauge, numbers in ((self._index["generation"], generations), (self._index["revision"], revisions)):
            gauge.clear()
            for collection, number in numbers.items():
                gauge.labels(collection).set(number)
        return generate_latest(self.registry)
