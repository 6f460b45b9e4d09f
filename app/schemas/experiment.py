"""Runs of experiments as the API shows them."""

from __future__ import annotations

from typing import Literal

from app.schemas.schema import Schema


class ExperimentView(Schema):
    """A run, as the list shows it."""

    id: str
    """The name of its folder: the experiment and a hash of what decides its answers."""
    status: Literal["finished", "unfinished", "damaged"]
    experiment: str | None = None
    created: str | None = None
    """When its last answer arrived, ISO 8601 in UTC; None for one that is not finished."""
    verdict: str | None = None
    """The finding in one sentence."""
    problem: str | None = None
    """What is damaged."""


class ExperimentList(Schema):
    """`GET /v1/experiments`, in the order of ids."""

    experiments: tuple[ExperimentView, ...]
