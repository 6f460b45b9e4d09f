"""Many clients, and what became of all that they sent."""

from __future__ import annotations

import asyncio
import time

import pytest

from experiments.bench.crowd import Job, run_crowd, send_all


def job(url, *bodies, **options):
    options = {"clients": 4, "requests": 10, "seconds": 20.0, "patience": 0.0, **options}
    return Job(url, "/", bodies, **options)


def test_every_request_of_a_crowd_is_counted_once(counting, tmp_path):
    bodies = ({}, {"status": 429}, {"status": 503})
    report = run_crowd(job(counting[1], *bodies, requests=12), tmp_path, "crowd")
    assert len(report.accepted_ms) == len(report.refused_ms) == 4
    assert report.failed == {"503": 4}
    assert (report.sent, report.unanswered, report.refused_without_retry_after) == (12, 0, 0)


def test_a_crowd_stops_by_itself_when_the_time_is_over(counting):
    started = time.perf_counter()
    report = asyncio.run(send_all(job(counting[1], {}, requests=10**9, seconds=0.3)))
    assert 0.3 <= time.perf_counter() - started < 10
    assert report.sent > 4


@pytest.mark.parametrize(("patience", "least_s"), [(0.2, 0.4), (0.0, 0.0)])
def test_a_refused_client_waits_the_part_of_retry_after_that_its_patience_says(counting, patience, least_s):
    started = time.perf_counter()
    asyncio.run(send_all(job(counting[1], {"status": 429}, clients=1, requests=1, patience=patience)))
    # The server says 2 s.
    assert least_s <= time.perf_counter() - started


def test_a_request_that_hangs_is_counted_as_unanswered(counting):
    report = asyncio.run(send_all(job(counting[1], {}, clients=1, requests=2, timeout_s=0.01)))
    assert (report.sent, report.unanswered) == (2, 2)
