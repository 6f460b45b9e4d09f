"""The templates of a server: those that come with Openbook, and those of a folder of one's own.

Each is a file `<name>@<version>.yaml`. A name without a version means the highest one. A changed wording is a new
version, so that an answer names the prompt that made it; its hash tells whether somebody changed the file even so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

import terminal
from app.errors import PromptFileInvalid, PromptNotFound
from app.prompting.template import Template

SHIPPED = Path(__file__).parent / "templates"
FILE_NAME = re.compile(r"([a-z][a-z0-9_]*)@([1-9][0-9]{0,5})\.yaml")


class PromptBook:
    """Templates by name, in the order of names and versions."""

    def __init__(self, templates: Mapping[str, Template]) -> None:
        """Take the templates by `name@version`."""
        self._templates = dict(sorted(templates.items(), key=lambda item: _place(item[0])))
        self._latest = {_place(name)[0]: template for name, template in self._templates.items()}

    def __iter__(self) -> Iterator[Template]:
        return iter(self._templates.values())

    def find(self, name: str) -> Template:
        """Return the template of that name, with or without its version.

        Raises:
            PromptNotFound: There is none.
        """
        template = self._templates.get(name) or self._latest.get(name)
        if template is None:
            hint = terminal.did_you_mean(name, [*self._templates, *self._latest])
            raise PromptNotFound(f"There is no prompt {name!r}.{hint} Prompts: {', '.join(self._templates)}.")
        return template


def load_prompts(own: Path | None = None) -> PromptBook:
    """Return the templates that come with Openbook, and those of a folder.

    Raises:
        PromptFileInvalid: A file of the folder is no template, or has the name of one that comes with Openbook.
    """
    shipped = _shipped()
    return PromptBook(shipped if own is None else _read_folder(own, shipped))


def find_prompt(name: str) -> Template:
    """Return a template that comes with Openbook. Raises as `PromptBook.find` does."""
    return load_prompts().find(name)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Template]:
    return _read_folder(SHIPPED, {})


def _read_folder(folder: Path, known: Mapping[str, Template]) -> dict[str, Template]:
    if not folder.is_dir():
        raise PromptFileInvalid(f"{folder} is no folder. --prompts names one with files NAME@VERSION.yaml.")
    said = {path.stem: _read(path, known) for path in sorted(folder.glob("*.yaml"))}
    return {**known, **{name: _template(folder, name, said, known) for name in said}}


def _read(path: Path, known: Mapping[str, Template]) -> dict[str, Any]:
    """Return what a file says."""
    if not FILE_NAME.fullmatch(path.name):
        raise PromptFileInvalid(
            f"{path}: a template is named NAME@VERSION.yaml, such as harbour@1.yaml: small letters, digits and "
            "underscores, and a whole number from 1."
        )
    if path.stem in known:
        stem = _place(path.stem)[0]
        raise PromptFileInvalid(
            f"{path}: {path.stem} comes with Openbook and cannot be replaced, so that its name means the same "
            f"everywhere. Rename the file, for instance to {stem}@{_next(stem, known)}.yaml."
        )
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PromptFileInvalid(f"{path} cannot be read: {error}") from error
    if not isinstance(said, dict):
        raise PromptFileInvalid(f"{path}: a template is a mapping with the fields about, system, passage, order, ask.")
    return said


def _template(folder: Path, name: str, said: Mapping[str, dict[str, Any]], known: Mapping[str, Template]) -> Template:
    path = folder / f"{name}.yaml"
    try:
        return Template.model_validate({**_whole(path, [name], said, known), "name": name})
    except ValidationError as error:
        faults = "; ".join(_fault(entry) for entry in error.errors())
        raise PromptFileInvalid(f"{path}: {faults}.") from error


def _whole(
    path: Path, names: list[str], said: Mapping[str, dict[str, Any]], known: Mapping[str, Template]
) -> dict[str, Any]:
    """Return what a file says, with what it takes over from the one that it says it is `like`."""
    fields = dict(said[names[-1]])
    like = fields.pop("like", None)
    if like is None:
        return fields
    if like in names:
        raise PromptFileInvalid(f"{path}: like: {' is like '.join([*names, like])}, which has no beginning.")
    if like in known:
        return {**known[like].model_dump(), **fields}
    if like not in said:
        names_there = [*known, *said]
        hint = terminal.did_you_mean(str(like), names_there)
        raise PromptFileInvalid(
            f"{path}: like: there is no template {like!r}.{hint} There are: {', '.join(names_there)}."
        )
    return {**_whole(path, [*names, like], said, known), **fields}


def _fault(entry: Any) -> str:
    place = ".".join(map(str, entry["loc"]))
    message = str(entry["msg"]).removeprefix("Value error, ")
    if entry["type"] == "extra_forbidden":
        message = f"unknown field.{terminal.did_you_mean(place, Template.model_fields)}".rstrip(".")
    return f"{place}: {message}" if place else message


def _place(name: str) -> tuple[str, int]:
    stem, _, version = name.partition("@")
    return stem, int(version) if version.isdecimal() else 0


def _next(stem: str, known: Mapping[str, Template]) -> int:
    return 1 + max(version for each, version in map(_place, known) if each == stem)
