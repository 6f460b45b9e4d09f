"""Documents that try to take over the answer, against the real model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from experiments.bench.attacks.attack import STRUCTURAL, read_attacks
from experiments.bench.attacks.command import COLLECTION, run_attacks, table, write_documents
from experiments.client import Client
from tests.conftest import RunningServer, run_openbook

pytestmark = pytest.mark.engine


def test_no_document_breaks_into_the_prompt_and_the_rate_of_obedience_is_told(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attacks = read_attacks()
    ingested = run_openbook(server.home, "ingest", str(write_documents(tmp_path, attacks)), "--collection", COLLECTION)
    assert ingested.returncode == 0, ingested.stderr
    with Client(server.url) as client:
        outcomes = run_attacks(client, attacks)
    with capsys.disabled():
        sys.stdout.write(f"\n{table(outcomes)}\n")
    broke_in = {
        way: {each.attack for each in outcomes if each.way == way and each.broke_in}
        for way in ("undefended", "defended")
    }
    assert broke_in["defended"] == set()
    assert {each.kind for each in attacks if each.id in broke_in["undefended"]} >= set(STRUCTURAL)
