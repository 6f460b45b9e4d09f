"""What is known of the work that a server does: figures for Prometheus, and a record of the request at hand."""

from app.telemetry.metrics import Telemetry
from app.telemetry.record import RequestRecord, current_record, recording

__all__ = ["RequestRecord", "Telemetry", "current_record", "recording"]
