"""`keys.json`: the API keys of an Openbook home, changed by `openbook keys`, read by every running server.

Revoked keys stay listed. So a server whose keys are all revoked lets nobody in, rather than everybody.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

import terminal
from app.access.key import KEY_NAME, Key, ScopeName, digest, new_id, new_secret
from app.errors import KeyNameTaken, KeyNotFound, KeysDamaged
from corpus.durability import sync
from corpus.errors import UsageError


class Keys(BaseModel):
    """What the file holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = 1
    keys: tuple[Key, ...] = ()


def read_keys(file: Path) -> tuple[Key, ...]:
    """Return the keys in a file, the revoked ones too; none where there is no file.

    Raises:
        KeysDamaged: It cannot be read, or holds something else.
    """
    try:
        return Keys.model_validate_json(file.read_bytes()).keys
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise KeysDamaged(f"{file} cannot be read: {error.strerror}. Nobody is let in until it can be.") from error
    except ValidationError as error:
        raise KeysDamaged(
            f"{file} is no list of API keys ({error.error_count()} errors, the first: {error.errors()[0]['msg']}). "
            "Nobody is let in. Put a copy back, or remove it and make new keys with `openbook keys create`."
        ) from error


def create_key(
    file: Path,
    name: str,
    scopes: Sequence[ScopeName],
    collections: Sequence[str] | None = None,
    requests_per_minute: int | None = None,
) -> tuple[Key, str]:
    """Add a key to a file; return it with its secret, which is kept nowhere.

    Raises:
        UsageError: The name is none.
        KeyNameTaken: A key of that name is in use.
        KeysDamaged: The file cannot be read or written.
    """
    if not KEY_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a key: up to 64 letters, digits, dots, dashes and underscores.")
    with _changing(file) as keys:
        if any(key.name == name and key.revoked is None for key in keys):
            raise KeyNameTaken(f"There is a key {name!r}. Choose another name, or first `openbook keys revoke {name}`.")
        id_ = new_id()
        secret = new_secret(id_)
        key = Key(
            id=id_,
            name=name,
            sha256=digest(secret),
            scopes=tuple(dict.fromkeys(scopes)),
            collections=None if collections is None else tuple(dict.fromkeys(collections)),
            requests_per_minute=requests_per_minute,
            created=datetime.now(UTC).replace(microsecond=0),
        )
        keys.append(key)
    return key, secret


def revoke_key(file: Path, name_or_id: str) -> Key:
    """Revoke a key; a running server refuses it from its next request on.

    Raises:
        KeyNotFound: No key in use has that name or id.
        KeysDamaged: The file cannot be read or written.
    """
    with _changing(file) as keys:
        in_use = [key for key in keys if key.revoked is None]
        found = next((key for key in in_use if name_or_id in (key.name, key.id)), None)
        if found is None:
            names = [key.name for key in in_use]
            hint = terminal.did_you_mean(name_or_id, names)
            raise KeyNotFound(f"No key in use is called {name_or_id!r}.{hint} In use: {', '.join(names) or 'none'}.")
        revoked = found.model_copy(update={"revoked": datetime.now(UTC).replace(microsecond=0)})
        keys[keys.index(found)] = revoked
    return revoked


@contextlib.contextmanager
def _changing(file: Path) -> Iterator[list[Key]]:
    """Give the keys to be changed and write them when the block ends well; one process at a time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            keys = list(read_keys(file))
            yield keys
            _write(file, Keys(keys=tuple(keys)))
    except OSError as error:
        raise KeysDamaged(f"{file} cannot be written: {error.strerror or error}.") from error


def _write(file: Path, keys: Keys) -> None:
    """Replace the file at once, so that a reader finds the old one or the new one, readable by its owner alone."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # of mode 0600
    try:
        with os.fdopen(descriptor, "wb") as output:
            output.write(keys.model_dump_json(indent=2).encode())
            output.flush()
            os.fsync(output.fileno())
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    sync(file.parent)
