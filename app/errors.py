"""Everything that can go wrong in the app, with the HTTP status and the exit code that it means.

AppError                     status 500   exit code 1
├── ModelNotFound            status 404   exit code 2   `--model` names nothing that can be served
├── CheckpointDamaged        status 500   exit code 2   a checkpoint.json that cannot be read
├── CheckpointNotServed      status 404   exit code 2   a request asks for a checkpoint that no engine serves
├── PromptNotFound           status 404   exit code 2   a request asks for a prompt that does not exist
├── PromptTooLong            status 422   exit code 2   question and passages exceed the model's context
├── Overloaded               status 503   exit code 1   too many questions at once
├── PortInUse                status 500   exit code 2
├── OpenHost                 status 500   exit code 2   an address that others can reach, without --insecure
├── EngineFailed             status 503   exit code 5   vLLM died, or could not be started
├── EngineUnreachable        status 503   exit code 5   nothing answers at the engine's address
├── EngineRefused            status 502   exit code 5   the engine answered with an error
└── ServerUnreachable        status 503   exit code 5   `openbook ask` finds no `openbook serve`
"""

from __future__ import annotations

from typing import ClassVar

from corpus.errors import OpenbookError


class AppError(OpenbookError):
    """An error of the app; `status` is what an HTTP client sees."""

    status: ClassVar[int] = 500
    retry_after_s: ClassVar[int | None] = None
    """Seconds after which it is worth trying again, or None where it is not."""


class ModelNotFound(AppError):
    """`--model` is neither a checkpoint of the registry nor a folder nor a Hugging Face id."""

    status = 404
    exit_code = 2


class CheckpointDamaged(AppError):
    """A `checkpoint.json` cannot be read."""

    exit_code = 2


class CheckpointNotServed(AppError):
    """The engine does not serve the checkpoint that a request asks for."""

    status = 404
    exit_code = 2


class PromptNotFound(AppError):
    """No prompt has that name and version."""

    status = 404
    exit_code = 2


class PromptTooLong(AppError):
    """The prompt and the room for its answer exceed the model's context."""

    status = 422
    exit_code = 2


class Overloaded(AppError):
    """More questions wait than the server takes."""

    status = 503
    retry_after_s = 1


class ClientGone(AppError):
    """The client closed the connection before its answer was there (499, as nginx logs it)."""

    status = 499


class PortInUse(AppError):
    """Another program listens on the port."""

    exit_code = 2


class OpenHost(AppError):
    """The address can be reached from other machines, and the API asks nobody who they are."""

    exit_code = 2


class EngineFailed(AppError):
    """The vLLM process ended, or never came up; the message holds its last log lines and the log's path."""

    status = 503
    exit_code = 5
    retry_after_s = 30


class EngineUnreachable(AppError):
    """Nothing answers at the engine's address."""

    status = 503
    exit_code = 5
    retry_after_s = 5


class EngineRefused(AppError):
    """The engine answered with an error that is not the client's fault."""

    status = 502
    exit_code = 5


class ServerUnreachable(AppError):
    """No `openbook serve` answers at the address."""

    status = 503
    exit_code = 5
