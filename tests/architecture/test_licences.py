"""Nothing that Openbook ships or imports is under the GPL or the AGPL."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STRONG_COPYLEFT = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)


def locked_names(lock: str) -> list[str]:
    lines = (ROOT / "requirements" / f"{lock}.lock").read_text().splitlines()
    return [line.partition("==")[0] for line in lines if line and not line.startswith("#")]


def licence_of(name: str) -> str:
    fields = metadata(name)
    # A "License" field may hold a whole text that mentions other licences; its first line names its own.
    named = (fields.get("License") or "").strip().splitlines()[:1]
    classifiers = [value for value in fields.get_all("Classifier") or [] if value.startswith("License")]
    return "; ".join([fields.get("License-Expression") or "", *named, *classifiers])


@pytest.mark.parametrize("name", locked_names("cpu"))
def test_a_locked_package_is_not_under_the_gpl(name):
    try:
        licence = licence_of(name)
    except PackageNotFoundError:
        pytest.fail(f"{name} is in requirements/cpu.lock but not installed: run `make setup`")
    alternatives = re.split(r"\bOR\b", licence)
    assert not all(STRONG_COPYLEFT.search(part) for part in alternatives), f"{name}: {licence}"
