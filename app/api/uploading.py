"""The body of `POST /v1/documents`: JSON with a text, or a form with files, into the files of a job.

What a sender calls a file is a label: it names the document and says its format, and no path is ever made of it.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from app.access.caller import current_caller
from app.access.guarded_jobs import GuardedJobs
from app.api.body_limit import is_upload
from app.errors import ClientGone, NameRefused, QueueUnusable, UnsupportedUpload
from app.jobs.upload import Spool, StoredFile, Upload
from app.schemas.job import JobView
from app.schemas.upload import DocumentUpload, FileUpload
from indexer.ingesting.judging import OF_SEVERAL
from indexer.parsing import PARSERS

Model = TypeVar("Model", bound=BaseModel)
Store = Callable[[Spool, str], tuple[StoredFile, ...]]
"""Puts the files of a job into the spool."""

FILE = "file"
MOST_FILES = 100
MOST_FIELDS = 20
LONGEST_LABEL = 255
SEPARATORS = re.compile(r"[/\\]")


async def receive_upload(request: Request, jobs: GuardedJobs) -> JobView:
    """Queue what a request uploads.

    Raises:
        RequestValidationError, NameRefused: The body is not what it should be.
        UnsupportedUpload: It is of another type, or a file is of a format that is not read.
        Forbidden: The caller may not use the collection.
        QueueFull, QueueUnusable: It cannot be queued.
        ClientGone: The client closed the connection on its way.
    """
    try:
        if is_upload(request.scope):
            async with request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS) as form:
                return await _receive_files(request, form, jobs)
        return await _receive_text(request, jobs)
    except ClientDisconnect as error:
        raise ClientGone("The client closed the connection before the whole upload was there.") from error


async def _receive_text(request: Request, jobs: GuardedJobs) -> JobView:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedUpload(
            f"The content type is {kind or 'missing'!r}. Send application/json with one text, or multipart/form-data "
            f"with files named {FILE!r}."
        )
    sent = _validated(request, DocumentUpload, _json(await request.body()))
    line = sent.model_dump_json(exclude={"collection"}, exclude_defaults=True).encode()

    def store(spool: Spool, job_id: str) -> tuple[StoredFile, ...]:
        name, size = spool.put(job_id, 0, ".jsonl", io.BytesIO(line))
        return (StoredFile(label=sent.id, id=sent.id, name=name, size=size),)

    return await run_in_threadpool(_queue, jobs, sent.collection, store, {})


async def _receive_files(request: Request, form: FormData, jobs: GuardedJobs) -> JobView:
    files, fields = _parts(form)
    sent = _validated(request, FileUpload, fields)
    labels = [_label(file.filename) for file in files]
    if len(set(labels)) < len(labels):
        raise _invalid(FILE, "two files of one upload have the same name")
    if sent.id is not None and (len(files) > 1 or _suffix(labels[0]) in OF_SEVERAL):
        raise _invalid("id", "names one document, and this upload may hold several")

    def store(spool: Spool, job_id: str) -> tuple[StoredFile, ...]:
        stored = []
        for number, (label, file) in enumerate(zip(labels, files, strict=True)):
            name, size = spool.put(job_id, number, _suffix(label), file.file)
            stored.append(StoredFile(label=label, id=sent.id or label, name=name, size=size))
        return tuple(stored)

    said = sent.model_dump(exclude={"collection", "id"})
    return await run_in_threadpool(_queue, jobs, sent.collection, store, said)


def _queue(jobs: GuardedJobs, collection: str, store: Store, said: dict[str, Any]) -> JobView:
    """Put the files of a job into the spool, and then the job into the queue; all of it or nothing."""
    current_caller().require_collection(collection)
    job_id = jobs.spool.new_id()
    try:
        return jobs.submit(job_id, collection, Upload(files=store(jobs.spool, job_id), **said))
    except BaseException as error:
        jobs.spool.drop(job_id)
        if isinstance(error, OSError):
            raise QueueUnusable(
                f"The upload cannot be kept: {error.strerror or error}. Make room, and try again."
            ) from error
        raise


def _parts(form: FormData) -> tuple[list[UploadFile], dict[str, Any]]:
    """Return the files of a form, and its fields, each of which may be there once."""
    files: list[UploadFile] = []
    fields: dict[str, Any] = {}
    for name, value in form.multi_items():
        if name == FILE and isinstance(value, UploadFile):
            files.append(value)
        elif name == FILE:
            raise _invalid(FILE, "has to be a file with a name")
        elif isinstance(value, UploadFile):
            raise _invalid(name, f"is a file; files are sent as {FILE!r}")
        elif name in fields:
            raise _invalid(name, "is there twice")
        else:
            fields[name] = _object(value) if name == "metadata" else value
    if not files:
        raise _invalid(FILE, "is missing: send one file or more")
    return files, fields


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid("metadata", 'has to be an object of JSON, such as {"team": "harbour"}') from error


def _label(name: str | None) -> str:
    """Return what a file is called: the last part of what may be meant as a path.

    Raises:
        NameRefused: It is no name.
        UnsupportedUpload: It says no format that is read.
    """
    label = SEPARATORS.split(name or "")[-1].strip()
    if not label.strip(".") or not label.isprintable() or len(label) > LONGEST_LABEL:
        raise NameRefused(
            f"{(name or '')[:80]!r} is no name for a file: 1 to {LONGEST_LABEL} characters that can be printed."
        )
    if _suffix(label) not in PARSERS:
        raise UnsupportedUpload(f"The format of {label!r} is not read. Files that are: {', '.join(PARSERS)}.")
    return label


def _suffix(label: str) -> str:
    return os.path.splitext(label)[1].lower()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        position, reason = getattr(error, "pos", 0), getattr(error, "msg", str(error))
        entry = {"type": "json_invalid", "loc": ("body", position), "msg": "no JSON", "ctx": {"error": reason}}
        raise RequestValidationError([entry]) from error


def _validated(request: Request, model: type[Model], value: Any) -> Model:
    request.state.model = model
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RequestValidationError([{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors()]) from error


def _invalid(field: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"type": "value_error", "loc": ("body", field), "msg": message}])
