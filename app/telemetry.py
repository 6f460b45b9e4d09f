"""What `GET /metrics` shows: counters and histograms in Prometheus's text format.

Each app has a registry of its own, so that two of them in one process do not mix.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from app.schemas.answer import Answer

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Telemetry:
    """The metrics of one app."""

    def __init__(self) -> None:
        """Begin at zero."""
        # The times at which series began double the text and tell nothing that a scraper needs.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "openbook_http_requests", "HTTP requests.", ["route", "method", "status"], registry=self.registry
        )
        self._request_seconds = Histogram(
            "openbook_http_request_seconds", "Time to answer.", ["route"], buckets=SECONDS, registry=self.registry
        )
        self._retrieval_seconds = Histogram(
            "openbook_retrieval_seconds", "Search and prompt.", buckets=SECONDS, registry=self.registry
        )
        self._generation_seconds = Histogram(
            "openbook_generation_seconds", "The engine's part.", buckets=SECONDS, registry=self.registry
        )
        self._tokens = Counter("openbook_tokens", "Tokens of answered questions.", ["kind"], registry=self.registry)
        self._engine_up = Gauge("openbook_engine_up", "1 where the engine answers.", registry=self.registry)
        self._generation = Gauge(
            "openbook_index_generation", "The index's generation.", ["collection"], registry=self.registry
        )
        self._revision = Gauge(
            "openbook_index_revision", "Commits of the collection.", ["collection"], registry=self.registry
        )

    def requested(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an HTTP request. `route` is the template, e.g. `/v1/documents/{document_id}`: its values are few."""
        self._requests.labels(route, method, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def answered(self, answer: Answer) -> None:
        """Count an answered question, or one that was found to have no answer."""
        timing = answer.timing
        self._retrieval_seconds.observe((timing.embed_ms + timing.search_ms + timing.prompt_ms) / 1000)
        if answer.answerable:
            self._generation_seconds.observe(timing.generate_ms / 1000)
        self._tokens.labels("prompt").inc(answer.usage.prompt_tokens)
        self._tokens.labels("completion").inc(answer.usage.completion_tokens)

    def exposition(self, engine_up: bool, generations: dict[str, int], revisions: dict[str, int]) -> bytes:
        """Return all metrics as text, with the state of engine and index as it is now."""
        self._engine_up.set(engine_up)
        for gauge, numbers in ((self._generation, generations), (self._revision, revisions)):
            gauge.clear()
            for collection, number in numbers.items():
                gauge.labels(collection).set(number)
        return generate_latest(self.registry)
