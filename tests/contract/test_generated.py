"""Requests that schemathesis generates from the OpenAPI document, right ones and wrong ones, break no promise of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.core.failures import FailureGroup

from tests.app.library import Library

LEFT_OUT = (
    # What a schema cannot say (two options that exclude each other, a name that is no file) is refused with 422.
    "positive_data_acceptance",
    # FastAPI takes a number where a text of digits is wanted, and query parameters that it does not know.
    "negative_data_rejection",
    # Checked here, with the two exceptions below.
    "not_a_server_error",
)
ASKED_FOR = ("urn:openbook:store-locked", "urn:openbook:deadline-exceeded")
"""503 for a deletion that meets a writer, and 504 where `timeout_s` is next to nothing; nothing else is 5xx."""


@pytest.fixture(scope="module")
def schema(library: Library) -> schemathesis.BaseSchema:
    found = schemathesis.openapi.from_url(str(library.client.base_url.join("/openapi.json")))

    @found.auth()
    class Key:
        def get(self, case: schemathesis.Case, context: schemathesis.AuthContext) -> str:
            return library.client.headers["authorization"]

        def set(self, case: schemathesis.Case, data: str, context: schemathesis.AuthContext) -> None:
            case.headers["authorization"] = data

    return found


def run(schema: schemathesis.BaseSchema, each: int) -> str:
    """Send generated requests to every operation, right ones and wrong ones; return what is wrong with the answers."""
    return "\n".join(said for mode in GenerationMode for said in broken_promises(schema, mode, each))


def broken_promises(schema: schemathesis.BaseSchema, mode: GenerationMode, each: int) -> Iterator[str]:
    left_out = [CHECKS.get_one(name) for name in LEFT_OUT]
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=each,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: schemathesis.Case) -> None:
            response = case.call(timeout=60)
            expected = response.status_code < 500 or any(kind in response.text for kind in ASKED_FOR)
            assert expected, f"{case.operation.label}: {response.text}"
            case.validate_response(response, excluded_checks=left_out)

        try:
            send()
        except Unsatisfiable:
            # An operation that takes nothing can be sent nothing wrong.
            continue
        except AssertionError as error:
            yield str(error)
        except FailureGroup as failures:
            yield from (f"{operation.label}: {failure}" for failure in failures.exceptions)


def sent_requests(library: Library) -> int:
    counts = re.findall(
        r"^openbook_http_requests_total\{.*\} (\S+)$", library.client.get("/metrics").text, re.MULTILINE
    )
    return sum(int(float(count)) for count in counts)


def test_generated_requests_break_no_promise(library: Library, schema: schemathesis.BaseSchema) -> None:
    before = sent_requests(library)
    broken = run(schema, each=8)
    assert not broken, broken
    assert sent_requests(library) - before > 200


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_five_thousand_generated_requests_break_no_promise(library: Library, schema: schemathesis.BaseSchema) -> None:
    before = sent_requests(library)
    broken = run(schema, each=150)
    assert not broken, broken
    assert sent_requests(library) - before >= 5000
