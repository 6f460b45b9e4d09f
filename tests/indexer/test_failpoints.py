"""A real command, killed at every step it takes, leaves a store that answers; the same command then does the rest."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.errors import UsageError
from indexer import failpoints
from tests.indexer.failing import NEW, OLD

ROOT = Path(__file__).parents[2]
PUBLISHING = [
    "publish.begun", "generation.folder_made", "generation.index_written", "generation.manifest_written",
    "generation.before_rename", "generation.renamed", "point_to.before_commit", "point_to.committed", "drop.begun",
    "drop.half", "drop.done",
]  # fmt: skip
CASES = {
    "first": ["collection.before_commit", "put.committed", "files.before_commit", *PUBLISHING[:-3]],
    "ingest": [
        "put.begun", "put.half", "put.half@2", "put.half@9", "put.before_commit", "put.before_commit@3",
        "put.committed", "put.committed@2", "delete.before_commit", "delete.committed", "files.before_commit",
        *PUBLISHING,
    ],
    "vacuum": [
        "vacuum.history_dropped", "vacuum.published", "vacuum.generations_dropped", "vacuum.lexical_merged",
        "vacuum.compacted",
    ],
    "rebuild": [
        "rebuild.staged", "rebuild.staged@3", "rebuild.before_swap", "rebuild.swapped_half", "generation.renamed",
        "rebuild.before_commit", "rebuild.committed",
    ],
    "embed": [
        "rebuild.staged", "rebuild.staged@2", "rebuild.before_swap", "rebuild.swapped_half", "generation.renamed",
        "rebuild.before_commit", "rebuild.committed",
    ],
    "backup": ["backup.database_copied", "backup.before_rename"],
    "restore": [
        "restore.checked", "restore.safety_copy_made", "restore.published", "restore.before_swap", "restore.swapped",
    ],
    "damaged": ["restore.half_moved", "restore.safety_copy_made", "restore.published", "restore.swapped"],
}  # fmt: skip
ALL = [f"{command}={place}" for command, places in CASES.items() for place in places]


@pytest.fixture(scope="module")
def results(tiny_path, tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("failing")
    command = [sys.executable, "-m", "tests.indexer.failing", str(folder), str(tiny_path), *ALL]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert finished.returncode == 0, finished.stderr
    return {result["case"]: result for result in map(json.loads, finished.stdout.splitlines())}


@pytest.mark.parametrize("case", ALL)
def test_a_command_that_is_killed_at_a_step_loses_and_invents_nothing(results, case):
    command = case.partition("=")[0]
    result, again = results[case], results[case]["again"]
    assert result["killed"] == -signal.SIGKILL, "the command does not pass this step"
    assert [said for said in result["wrong"] if said.startswith("fail")] == [] or command == "damaged"
    assert result["opened"] or command in ("first", "damaged")
    assert result["found"] or command == "damaged"
    assert result["lost"] == []
    before, after = ({}, NEW) if command == "first" else (OLD, NEW if command == "ingest" else OLD)
    for id_, text in result["texts"].items():
        assert text in (before.get(id_), after.get(id_)), f"{id_} is neither what it was nor what it is to be"
    if command != "damaged":
        assert {id_ for id_ in before if id_ in after} <= result["texts"].keys(), "a committed document is gone"
    assert (again["code"], again["opened"], again["found"], again["texts"]) == (0, True, True, after)
    assert again["wrong"] == []


def test_every_failpoint_is_passed_by_a_command():
    passed = {case.partition("=")[2].partition("@")[0] for case in ALL}
    assert passed == set(failpoints.NAMES)


@pytest.mark.parametrize("text", ["nowhere", "put.begun:explode", "put.begun:kill@x"])
def test_a_failpoint_that_does_not_exist_is_refused(text):
    with pytest.raises(UsageError, match="asks for"):
        failpoints.parse(text)


def test_failpoints_are_read_from_one_variable():
    assert failpoints.parse("put.begun, put.half:error@3,") == {"put.begun": ("kill", 1), "put.half": ("error", 3)}
    assert failpoints.parse("") == {}
