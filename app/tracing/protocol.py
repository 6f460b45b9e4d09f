"""How traces travel: OTLP as protobuf over HTTP, or over gRPC where OpenTelemetry's own variables say so."""

from __future__ import annotations

import os

PATH = "/v1/traces"
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def is_grpc() -> bool:
    """Say whether gRPC is asked for; HTTP is OpenTelemetry's default."""
    return next((value for name in PROTOCOLS if (value := os.environ.get(name))), "") == "grpc"


def traces_endpoint(endpoint: str) -> str:
    """Return the address for traces of a collector's address, which may be it already."""
    whole = endpoint.rstrip("/")
    return whole if is_grpc() or whole.endswith(PATH) else whole + PATH


def engine_environment() -> dict[str, str]:
    """Return what tells vLLM to use the same protocol; its own default is gRPC."""
    return {PROTOCOLS[0]: "grpc" if is_grpc() else "http/protobuf", "OTEL_SERVICE_NAME": "vllm"}
