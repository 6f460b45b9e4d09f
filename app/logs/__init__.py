"""The server's log on stderr: lines for people, or one JSON object for each record.

Openbook's own loggers follow `--log-level`; those of the libraries say only what went wrong, unless it is `debug`. What
a record knows beside its message is in `extra={"fields": {…}}`, so that nothing gets into the log by chance. Progress
and notes of the command line become records too where the log is JSON, so that every line of stderr can be parsed.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal

import terminal
from app.logs.formatters import FORMATTERS

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
OURS = ("app", "indexer", "openbook")
"""The loggers of Openbook itself."""

access_log = logging.getLogger("openbook.access")
"""One record for each request."""


def configure(form: LogFormat, level: LogLevel) -> None:
    """Have the whole process log to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FORMATTERS[form]())
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=_level_of_libraries(number), force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(number)
    logging.captureWarnings(True)
    if form == "json":
        terminal.speak_through(logging.getLogger("openbook").info)


def _level_of_libraries(ours: int) -> int:
    return logging.INFO if ours == logging.DEBUG else max(ours, logging.WARNING)
