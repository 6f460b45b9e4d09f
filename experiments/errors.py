"""What can go wrong with an experiment; every message is fit to be shown."""

from __future__ import annotations

from corpus.errors import OpenbookError, UsageError


class SpecError(UsageError):
    """A specification is missing or malformed; all its faults are named at once."""


class RunNotFound(UsageError):
    """No run of that name or path."""


class RunLocked(OpenbookError):
    """Another process is working on the same run."""


class RunDamaged(OpenbookError):
    """A file of the run folder cannot be read back."""


class GateFailed(OpenbookError):
    """A check failed without which no number would count, so the run stops before it costs anything."""


class StageFailed(OpenbookError):
    """A command that the run started (ingest, training) ended with an error."""


class ServerFailed(OpenbookError):
    """The server did not start, died or went out of reach. Running again continues."""

    exit_code = 5


class RequestRefused(OpenbookError):
    """The server answered one request with an error; the message is its problem's title and detail."""
