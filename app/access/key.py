"""An API key: what the server keeps of it, and the secret that only its owner has.

A secret is `ob_<id>_<256 random bits>`. The id, which is no secret, finds the record, so that one comparison decides
whatever the number of keys. Of the rest only the SHA-256 is kept. That suffices: salts and slow hashes protect what
people choose, which can be guessed; of 2^256 equally likely secrets none can be, and a slow hash would cost every
request the processor time that the engine needs.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

ScopeName = Literal["read", "write", "admin"]
SCOPES: tuple[ScopeName, ...] = get_args(ScopeName)
KEY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
PREFIX = "ob"
ABSENT_DIGEST = "0" * 64
"""Compared where there is no such key, so that an unknown id takes as long as a wrong secret."""


class Key(BaseModel):
    """What `keys.json` holds of a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[0-9a-f]{8}$")
    name: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of the whole secret."""
    scopes: tuple[ScopeName, ...] = Field(min_length=1)
    """`read` asks and looks, `write` changes documents, `admin` does everything. `write` alone cannot read."""
    collections: tuple[str, ...] | None = None
    """Those that it may use; None is all of them, also later ones."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """Its own rate; None takes the server's."""
    created: datetime
    revoked: datetime | None = None


def new_id() -> str:
    """Return a random id."""
    return secrets.token_hex(4)


def new_secret(id_: str) -> str:
    """Return the secret of a new key."""
    return f"{PREFIX}_{id_}_{secrets.token_urlsafe(32)}"


def id_of(secret: str) -> str:
    """Return the id inside a secret, or "" where it is none."""
    prefix, _, rest = secret.partition("_")
    return rest.partition("_")[0] if prefix == PREFIX else ""


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def opens(secret: str, key: Key | None) -> bool:
    """Say whether a secret is that of a key which is not revoked, in a time that does not tell how nearly it was."""
    same = hmac.compare_digest(digest(secret), key.sha256 if key else ABSENT_DIGEST)
    return same and key is not None and key.revoked is None
