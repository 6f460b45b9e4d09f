"""Experiments: the runs of the Openbook home, their results and their reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response

from app.access.caller import current_caller
from app.api.deps import ServicesDep
from app.api.problems import document
from app.runs import list_runs, read_file, read_results
from app.schemas.experiment import ExperimentList
from app.schemas.schema import Schema

router = APIRouter(prefix="/v1/experiments", tags=["experiments"])

RunId = Annotated[
    str, Path(description="As the list names it.", openapi_examples={"demo": {"value": "demo-0123456789ab"}})
]
ReportFormat = Literal["html", "md"]
MEDIA_TYPES: dict[ReportFormat, str] = {"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8"}
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""A report holds texts of documents and answers of a model: nothing in it may run, load or send."""
RESULTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`results.json` of the run, as it is.",
        "content": {"application/json": {"schema": {"type": "object"}, "example": {"experiment": "demo", "arms": {}}}},
    }
}
REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report as a page that runs and loads nothing, or as Markdown.",
        "content": {media.partition(";")[0]: {"schema": {"type": "string"}} for media in MEDIA_TYPES.values()},
    }
}


class ReportQuery(Schema):
    """The query of `GET /v1/experiments/{id}/report`."""

    format: ReportFormat = "html"


@router.get("")
def list_experiments(services: ServicesDep) -> ExperimentList:
    """Return every run; one that is damaged is listed as such.

    Needs `read` on all collections: results quote documents, questions and answers.
    """
    current_caller().require_everything("/v1/experiments")
    return ExperimentList(experiments=list_runs(services.resources.runs))


@router.get("/{experiment_id}", response_class=Response, responses={**RESULTS, **document(404, 409, 500)})
def show_experiment(experiment_id: RunId, services: ServicesDep) -> Response:
    """Return the results of a run; 409 where it is not finished. Needs `read` on all collections."""
    current_caller().require_everything("/v1/experiments")
    return Response(read_results(services.resources.runs, experiment_id), media_type="application/json")


@router.get("/{experiment_id}/report", response_class=Response, responses={**REPORT, **document(404, 409, 422, 500)})
def show_report(experiment_id: RunId, query: Annotated[ReportQuery, Query()], services: ServicesDep) -> Response:
    """Return the report of a run. Needs `read` on all collections."""
    current_caller().require_everything("/v1/experiments")
    content = read_file(services.resources.runs, experiment_id, f"report.{query.format}")
    headers = {
        "content-security-policy": REPORT_POLICY,
        "content-disposition": f'inline; filename="{experiment_id}.{query.format}"',
    }
    return Response(content, media_type=MEDIA_TYPES[query.format], headers=headers)
