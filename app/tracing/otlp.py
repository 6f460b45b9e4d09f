"""The door to OpenTelemetry: spans, sent by the OTLP protocol in the background.

One span for the request, and below it one for each stage of a question. The engine is told that it works below
`generate`, so that its own spans belong to the same trace. Attributes follow OpenTelemetry's semantic conventions for
HTTP and for generative AI; those of Openbook alone begin with `openbook.`. OpenTelemetry's own environment variables
(`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS` …) hold.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.tracing.protocol import is_grpc, traces_endpoint

PROPAGATOR = TraceContextTextMapPropagator()
ENGINE_STAGE = "generate"
NANOSECONDS = 1_000_000_000
HTTP = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "problem": "error.type",
}
GENERATIVE = {
    "checkpoint": "gen_ai.request.model",
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
}
NOT_SHOWN = frozenset({"trace_id", "ms"})
"""What the trace says itself."""


class OtlpTracing:
    """Makes spans and sends them to an endpoint."""

    def __init__(self, endpoint: str) -> None:
        """Take the collector's address, such as `http://127.0.0.1:4318`."""
        resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", "openbook")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(_exporter(endpoint)))
        self._tracer = self._provider.get_tracer("openbook")

    @contextmanager
    def request(
        self, name: Callable[[], str], headers: dict[str, str], described: Callable[[], Mapping[str, object]]
    ) -> Iterator[RequestTrace]:
        """See `Tracing.request`."""
        root = self._tracer.start_span("request", PROPAGATOR.extract(headers), SpanKind.SERVER)
        trace = RequestTrace(self._tracer, root, headers)
        try:
            yield trace
        finally:
            root.update_name(name())
            trace.end(described())

    def close(self) -> None:
        """Send what has not been sent yet, for as long as the exporter takes."""
        self._provider.shutdown()


class RequestTrace:
    """The spans of one request."""

    def __init__(self, tracer: Tracer, root: Span, headers: dict[str, str]) -> None:
        """Take the span of the request, and the headers that the engine is sent."""
        self._tracer, self._root, self._headers = tracer, root, headers
        self._context = set_span_in_context(root)
        self._generating: list[tuple[Span, int]] = []
        """Ended, but without the attributes that the answer gives them, and when."""
        PROPAGATOR.inject(headers, self._context)

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """See `Trace.span`."""
        engine = name == ENGINE_STAGE
        span = self._tracer.start_span(name, self._context, SpanKind.CLIENT if engine else SpanKind.INTERNAL)
        if engine:
            PROPAGATOR.inject(self._headers, set_span_in_context(span))
        try:
            yield
        except BaseException as error:
            span.set_status(StatusCode.ERROR, type(error).__name__)
            raise
        finally:
            if engine:
                self._generating.append((span, time.time_ns()))
            else:
                span.end()

    def past(self, name: str, seconds: float, ended_ago: float) -> None:
        """See `Trace.past`."""
        ended = time.time_ns() - int(ended_ago * NANOSECONDS)
        span = self._tracer.start_span(name, self._context, start_time=ended - int(seconds * NANOSECONDS))
        span.end(ended)

    def end(self, known: Mapping[str, object]) -> None:
        """End the request's span with what became known of it."""
        for span, ended in self._generating:
            _describe(span, known, GENERATIVE)
            span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.provider.name": "vllm"})
            span.end(ended)
        _describe(self._root, known, HTTP)
        rest = {name: f"openbook.{name}" for name in known if name not in HTTP and name not in NOT_SHOWN}
        _describe(self._root, known, rest)
        if isinstance(status := known.get("status"), int) and not 0 < status < 500:
            self._root.set_status(StatusCode.ERROR)
        self._root.end()


def _describe(span: Span, known: Mapping[str, object], names: Mapping[str, str]) -> None:
    for name, attribute in names.items():
        if isinstance(value := known.get(name), str | bool | int | float):
            span.set_attribute(attribute, value)


def _exporter(endpoint: str) -> SpanExporter:
    if is_grpc():
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc(endpoint=traces_endpoint(endpoint), insecure=endpoint.startswith("http://"))
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=traces_endpoint(endpoint))
