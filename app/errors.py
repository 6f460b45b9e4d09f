"""Everything that can go wrong in the app, with the HTTP status and the exit code that it means.

AppError                     status 500   exit code 1
├── ModelNotFound            status 404   exit code 2   `--model` names nothing that can be served
├── CheckpointDamaged        status 500   exit code 2   a checkpoint.json that cannot be read
├── CheckpointNotServed      status 404   exit code 2   a request asks for a checkpoint that no engine serves
├── RoutingNotFound          status 500   exit code 2   `--routing` names no policy
├── EngineNotKnown           status 404   exit code 2   metrics of an engine that is not one of the server's
├── ModelNotServed           status 404   exit code 2   an OpenAI request names no arm
├── PromptNotFound           status 404   exit code 2   a request asks for a prompt that does not exist
├── PromptFileInvalid        status 500   exit code 2   a file of --prompts is no template
├── PromptTooLong            status 422   exit code 2   question and passages exceed the model's context
├── Overloaded               status 429   exit code 1   too many questions at once
├── RateLimited              status 429   exit code 1   a key sends more requests than it may
├── DeadlineExceeded         status 504   exit code 1   no answer in the time that the server or the client set
├── TimeoutTooLong           status 422   exit code 2   a request asks for more time than the server gives
├── BodyTooLarge             status 413   exit code 2
├── UnsupportedUpload        status 415   exit code 2   an upload of a format that is not read
├── NameRefused              status 422   exit code 2   a file's name that cannot be a document's
├── CursorRefused            status 422   exit code 2   `cursor` is none that this list has given
├── JobNotFound              status 404   exit code 2
├── JobBegun                 status 409   exit code 2   a job that no longer waits cannot be cancelled
├── QueueFull                status 429   exit code 1   too many uploads wait
├── QueueUnusable            status 503   exit code 1   the queue of uploads cannot be read or written
├── KeyReused                status 422   exit code 2   an Idempotency-Key with another request
├── KeyInUse                 status 409   exit code 1   the first request with an Idempotency-Key is under way
├── KeyMalformed             status 400   exit code 2   an Idempotency-Key that is none
├── CheckpointNotFound       status 404   exit code 2   the registry has no such checkpoint
├── ExperimentNotFound       status 404   exit code 2
├── ExperimentUnfinished     status 409   exit code 2   a run that has no results yet
├── ExperimentDamaged        status 500   exit code 1   files of a run that cannot be read
├── Draining                 status 503   exit code 1   the server is ending and takes no new requests
├── NotReady                 status 503   exit code 1   what /readyz says to those who show no key
├── KeyRequired              status 401   exit code 2   no API key, or one that opens nothing
├── Forbidden                status 403   exit code 2   the key lacks a scope or a collection
├── CallerUnknown            status 500   exit code 1   code that works for nobody asks for documents
├── KeyNameTaken             status 409   exit code 2   `openbook keys create` with a name in use
├── KeyNotFound              status 404   exit code 2   `openbook keys revoke` of a key that is not in use
├── KeysDamaged              status 503   exit code 2   keys.json cannot be read or written
├── RolloutNotFound          status 404   exit code 2   no rollout has that id
├── RolloutRefused           status 409   exit code 2   another rollout runs, or there is nothing to go back to
├── ProbeFailed              status 502   exit code 1   a replica of the new version does not answer as it must
├── UndoFailed               status 503   exit code 1   a rollout failed, and going back did too
├── TooManyReplicas          status 500   exit code 2   `openbook serve` with more replicas than cores or GPUs
├── NotEnoughMemory          status 507   exit code 2   the engines that are asked for do not fit
├── PortInUse                status 500   exit code 2
├── OpenHost                 status 500   exit code 2   an address that others can reach, without keys
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
    retry_after_s: int | None = None
    """Seconds after which it is worth trying again, or None where it is not."""

    @property
    def headers(self) -> dict[str, str]:
        """What an HTTP response says beside the problem."""
        return {"retry-after": str(self.retry_after_s)} if self.retry_after_s else {}


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


class RoutingNotFound(AppError):
    """`--routing` names no policy, or one that cannot be made."""

    exit_code = 2


class EngineNotKnown(AppError):
    """Metrics are asked for of an engine that is not one of the server's."""

    status = 404
    exit_code = 2


class ModelNotServed(AppError):
    """The `model` of a request in OpenAI's form is no arm."""

    status = 404
    exit_code = 2


class PromptNotFound(AppError):
    """No prompt has that name and version."""

    status = 404
    exit_code = 2


class PromptFileInvalid(AppError):
    """A file of one's own prompts is no template; the message names file, field and what is known."""

    exit_code = 2


class PromptTooLong(AppError):
    """The prompt and the room for its answer exceed the model's context."""

    status = 422
    exit_code = 2


class Overloaded(AppError):
    """More questions wait than the server takes."""

    status = 429
    retry_after_s = 1

    def __init__(self, message: str, retry_after_s: int = 1) -> None:
        """Take the message, and the seconds after which it is worth trying again."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RateLimited(AppError):
    """A key, or without keys an address, sends more requests than it may."""

    status = 429

    def __init__(self, message: str, retry_after_s: int) -> None:
        """Take the message, and the seconds until the next request may come."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DeadlineExceeded(AppError):
    """Waiting, searching and generating took longer than the server or the client allows."""

    status = 504


class TimeoutTooLong(AppError):
    """A request asks for more time than the server gives."""

    status = 422
    exit_code = 2


class BodyTooLarge(AppError):
    """The body of a request is larger than the server reads."""

    status = 413
    exit_code = 2

    @property
    def headers(self) -> dict[str, str]:
        """End the connection: what follows on it is the body that nobody reads."""
        return {"connection": "close"}


class UnsupportedUpload(AppError):
    """An upload is of a format that is not read."""

    status = 415
    exit_code = 2


class NameRefused(AppError):
    """The name of a file cannot be that of a document."""

    status = 422
    exit_code = 2


class CursorRefused(AppError):
    """A cursor is none that this list has given."""

    status = 422
    exit_code = 2


class JobNotFound(AppError):
    """There is no such job, or not for this caller."""

    status = 404
    exit_code = 2


class JobBegun(AppError):
    """A job no longer waits, and cannot be cancelled."""

    status = 409
    exit_code = 2


class QueueFull(AppError):
    """More uploads wait than the server takes."""

    status = 429
    retry_after_s = 10


class QueueUnusable(AppError):
    """The queue of uploads cannot be read or written."""

    status = 503
    retry_after_s = 10


class KeyReused(AppError):
    """An Idempotency-Key comes with another request than the first time."""

    status = 422
    exit_code = 2


class KeyInUse(AppError):
    """The first request with an Idempotency-Key is still under way."""

    status = 409
    retry_after_s = 1


class KeyMalformed(AppError):
    """An Idempotency-Key is empty, too long, or of characters that cannot be printed."""

    status = 400
    exit_code = 2


class CheckpointNotFound(AppError):
    """The registry has no checkpoint of that label."""

    status = 404
    exit_code = 2


class ExperimentNotFound(AppError):
    """There is no run of that id."""

    status = 404
    exit_code = 2


class ExperimentUnfinished(AppError):
    """A run has no results yet."""

    status = 409
    exit_code = 2


class ExperimentDamaged(AppError):
    """Files of a run cannot be read."""


class Draining(AppError):
    """The server is ending: it finishes what it has and takes nothing new."""

    status = 503
    retry_after_s = 5

    @property
    def headers(self) -> dict[str, str]:
        """End the connection, so that the next request goes to another server."""
        return {**super().headers, "connection": "close"}


class NotReady(AppError):
    """The server cannot answer, and the caller has shown no key to learn why."""

    status = 503
    retry_after_s = 5


class KeyRequired(AppError):
    """No API key was shown, or one that opens nothing."""

    status = 401
    exit_code = 2

    def __init__(self, message: str, shown: bool) -> None:
        """Take the message, and whether a key was shown."""
        super().__init__(message)
        self._shown = shown

    @property
    def headers(self) -> dict[str, str]:
        """Say how to authenticate (RFC 6750)."""
        return {"www-authenticate": 'Bearer realm="openbook"' + (', error="invalid_token"' if self._shown else "")}


class Forbidden(AppError):
    """The key lacks a scope or a collection."""

    status = 403
    exit_code = 2

    def __init__(self, message: str, missing_scope: str | None = None) -> None:
        """Take the message, and the scope that is missing, where it is one."""
        super().__init__(message)
        self._missing_scope = missing_scope

    @property
    def headers(self) -> dict[str, str]:
        """Name the missing scope (RFC 6750)."""
        if self._missing_scope is None:
            return {}
        return {
            "www-authenticate": f'Bearer realm="openbook", error="insufficient_scope", scope="{self._missing_scope}"'
        }


class CallerUnknown(AppError):
    """Documents are asked for on behalf of nobody: a fault of the program, refused rather than answered."""


class KeyNameTaken(AppError):
    """A key of that name is in use."""

    status = 409
    exit_code = 2


class KeyNotFound(AppError):
    """No key in use has that name or id."""

    status = 404
    exit_code = 2


class KeysDamaged(AppError):
    """`keys.json` cannot be read or written; nobody is let in."""

    status = 503
    exit_code = 2


class ClientGone(AppError):
    """The client closed the connection before its answer was there (499, as nginx logs it)."""

    status = 499


class RolloutNotFound(AppError):
    """No rollout has that id."""

    status = 404
    exit_code = 2


class RolloutRefused(AppError):
    """A rollout cannot begin now."""

    status = 409
    exit_code = 2


class ProbeFailed(AppError):
    """A replica of the new version does not answer as it must."""

    status = 502


class UndoFailed(AppError):
    """A rollout failed, and what was before could not be had again as a whole."""

    status = 503


class TooManyReplicas(AppError):
    """More replicas than cores or GPUs."""

    exit_code = 2


class NotEnoughMemory(AppError):
    """The engines that are asked for do not fit into the machine's memory."""

    status = 507
    exit_code = 2


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
