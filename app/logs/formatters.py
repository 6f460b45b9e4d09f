"""How a log record is written."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a record knows beside its message, without what is not known."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    return {name: value for name, value in fields.items() if value is not None}


def time_of(record: logging.LogRecord) -> str:
    """Return when a record was made, in UTC to the millisecond (RFC 3339)."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonFormatter(logging.Formatter):
    """One JSON object on one line, whatever the message holds."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        entry = {
            "time": time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        # ASCII alone: some readers take U+2028 for the end of a line.
        return json.dumps(entry, default=str)


class TextFormatter(logging.Formatter):
    """Time, level and message, then the fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and below it the traceback where there is one."""
        words = [time_of(record), record.levelname.lower(), _one_line(record.getMessage())]
        words += [f"{name}={_one_line(str(value))}" for name, value in fields_of(record).items()]
        line = " ".join(words)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}
"""By the value of `--log-format`."""


def _one_line(text: str) -> str:
    """Escape what would end the line or move the cursor: nobody may write lines of their own into the log."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
