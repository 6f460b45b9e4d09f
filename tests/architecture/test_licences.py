"""Nothing that Openbook ships or imports is under the GPL or the AGPL."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STRONG_COPYLEFT = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)

UNUSED_PARTS = {
    # Its COPYING names one GPL file, the mode for Emacs, which lies outside the package; the rest is in the public
    # domain or BSD.
    "docutils": ".el",
}
"""Packages that name the GPL for a part that the wheel does not hold, with the suffix of that part's files."""


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
    if name in UNUSED_PARTS:
        held = [file for file in files(name) or () if file.suffix == UNUSED_PARTS[name]]
        assert held == [], f"{name} now ships what is under the GPL"
        return
    alternatives = re.split(r"\bOR\b", licence)
    assert not all(STRONG_COPYLEFT.search(part) for part in alternatives), f"{name}: {licence}"
