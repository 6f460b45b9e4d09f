"""Jobs: what became of uploads."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from app.api import cursors
from app.api.deps import ServicesDep
from app.api.problems import document
from app.schemas.job import Job, JobPage, JobQuery

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

CURSOR = "jobs"
JobId = Annotated[
    str, Path(openapi_examples={"made": {"value": "job-00000000000000000000000000000000"}}, description="As uploaded.")
]


@router.get("", responses=document(422, 503))
def list_jobs(query: Annotated[JobQuery, Query()], services: ServicesDep) -> JobPage:
    """Return a page of the jobs of the last seven days, the newest first."""
    before = None if query.cursor is None else cursors.decode_number(CURSOR, query.cursor)
    jobs, next_ = services.resources.jobs.newest(before, query.limit)
    return JobPage(jobs=jobs, next_cursor=None if next_ is None else cursors.encode(CURSOR, next_))


@router.get("/{job_id}", responses=document(404, 503))
def show_job(job_id: JobId, services: ServicesDep) -> Job:
    """Return a job, with one record for each file, as `openbook ingest --json` writes it."""
    return services.resources.jobs.show(job_id)


@router.delete("/{job_id}", responses=document(404, 409, 503))
def cancel_job(job_id: JobId, services: ServicesDep) -> Job:
    """Cancel a job that waits; 409 where it has begun."""
    return services.resources.jobs.cancel(job_id)
