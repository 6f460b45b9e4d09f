"""Reading a specification: YAML in, a Spec out, or every fault of the file at once with its line.

A name without a folder is looked up among the specifications that Openbook ships.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiments.errors import SpecError
from experiments.spec import Spec
from terminal import did_you_mean

SHIPPED = Path(__file__).parent / "specs"
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a specification."""

    place: Place
    message: str


def shipped_specs() -> dict[str, Path]:
    """Return the specifications that Openbook ships, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.yaml"))}


def find_spec(name: str) -> Path:
    """Return the path of the specification: a file, or the name of a shipped one.

    Raises:
        SpecError: There is neither.
    """
    shipped = shipped_specs()
    if Path(name).is_file():
        return Path(name)
    if name in shipped:
        return shipped[name]
    if Path(name).is_dir():
        raise SpecError(f"{name} is a folder; name the YAML file of the experiment.")
    raise SpecError(
        f"There is no specification {name!r}: no such file, and none shipped under that name."
        f"{did_you_mean(name, shipped)} Shipped: {', '.join(shipped)}."
    )


def read_spec(path: Path) -> Spec:
    """Read and check a specification. Paths in it are relative to its folder.

    Raises:
        SpecError: It cannot be read, or is malformed; all faults are listed, each with its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except OSError as error:
        raise SpecError(f"Cannot read the specification {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"Cannot read the specification {path}: it is not UTF-8 (byte {error.start}).") from error
    except yaml.YAMLError as error:
        raise SpecError(f"{path} is not valid YAML: {_yaml_fault(error)}") from error
    if root is None or data is None:
        raise SpecError(f"The specification {path} is empty. {_least()}")
    if not isinstance(data, dict):
        raise SpecError(f"The specification {path} is not a mapping of keys to values. {_least()}")
    faults = [*_repeated_keys(root), *_dangling_names(data)]
    try:
        spec = Spec.model_validate(data, context={"folder": path.resolve().parent})
    except ValidationError as error:
        faults += [_fault(details) for details in error.errors(include_url=False)]
    if faults:
        raise SpecError(_report(path, root, faults))
    return spec


def _least() -> str:
    return "The least it needs: name, corpus, primary and arms; experiments/specs/demo.yaml is an example."


def _yaml_fault(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f"{error}."
    return f"line {mark.line + 1}, column {mark.column + 1}: {getattr(error, 'problem', error)}."


def _report(path: Path, root: yaml.Node, faults: list[Fault]) -> str:
    lines = []
    for fault in sorted(faults, key=lambda fault: _line(root, fault.place)):
        place = ".".join(map(str, fault.place)) or "the file"
        lines.append(f"  line {_line(root, fault.place)}, {place}: {fault.message}.")
    count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
    return "\n".join([f"The specification {path} has {count}:", *lines])


def _line(root: yaml.Node, place: Place) -> int:
    """Return the line, from 1, of the deepest part of `place` that the file holds."""
    node, line = root, root.start_mark.line
    for part in place:
        child = next(((key, value) for key, value in _children(node) if key.value == str(part)), None)
        if child is None:
            break
        line, node = child[0].start_mark.line, child[1]
    return int(line) + 1


def _children(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _repeated_keys(node: yaml.Node, place: Place = ()) -> Iterator[Fault]:
    """Yield a fault for each key that a mapping holds twice; YAML itself would keep the last in silence."""
    seen: dict[str, int] = {}
    for key, value in _children(node):
        line = key.start_mark.line + 1
        if key.value in seen:
            yield Fault((*place, key.value), f"given twice, in lines {seen[key.value]} and {line}")
        seen.setdefault(key.value, line)
        yield from _repeated_keys(value, (*place, key.value))


def _dangling_names(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each reference to something that the specification does not define."""
    arms = data.get("arms")
    primary = data.get("primary")
    if not isinstance(arms, Mapping):
        return
    if isinstance(primary, Mapping):
        for side in ("a", "b"):
            name = primary.get(side)
            if isinstance(name, str) and name not in arms:
                hint = did_you_mean(name, map(str, arms))
                yield Fault(
                    ("primary", side), f"there is no arm {name!r}.{hint} Arms: {', '.join(map(str, arms)) or 'none'}"
                )
        if primary.get("a") is not None and primary.get("a") == primary.get("b"):
            yield Fault(("primary", "b"), f"the arm {primary['b']!r} is compared with itself")
    for name, arm in arms.items():
        if isinstance(arm, Mapping) and arm.get("corpus") == "other" and not data.get("other_corpus"):
            yield Fault(("arms", name, "corpus"), "the arm searches the other corpus, but 'other_corpus' is not given")


def _fault(details: ErrorDetails) -> Fault:
    """Turn pydantic's finding into a sentence, with the nearest name for a misspelt one."""
    place, value = details["loc"], details["input"]
    if details["type"] == "extra_forbidden":
        known = _keys_at(place[:-1])
        hint = did_you_mean(str(place[-1]), known)
        return Fault(place, f"unknown key.{hint} Known: {', '.join(known)}")
    if details["type"] == "missing":
        return Fault(place, "missing")
    if details["type"] == "literal_error":
        options = [str(option) for option in _literals(_type_at(place))]
        return Fault(
            place, f"{value!r} is not possible.{did_you_mean(str(value), options)} One of: {', '.join(options)}"
        )
    message = details["msg"].removeprefix("Value error, ")
    named = details["type"] in ("unknown_name", "value_error") or isinstance(value, dict | list)
    return Fault(place, message if named else f"{message[0].lower()}{message[1:]}, not {value!r}")


def _keys_at(place: Place) -> list[str]:
    model = _type_at(place)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _type_at(place: Place) -> Any:
    """Return the type that the specification expects at a place."""
    expected: Any = Spec
    for part in place:
        if isinstance(expected, type) and issubclass(expected, BaseModel) and part in expected.model_fields:
            expected = _without_none(expected.model_fields[str(part)].annotation)
        elif get_origin(expected) is dict:
            expected = get_args(expected)[1]
        else:
            return None
    return expected


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        return next(option for option in get_args(annotation) if option is not type(None))
    return annotation


def _literals(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()
