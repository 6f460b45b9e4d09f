"""A server without keys is for this machine alone: pages of the web that a browser on it shows are refused.

Such a page reaches loopback under a name of its own that it lets resolve to 127.0.0.1 (DNS rebinding), and then counts
as the same origin, so that CORS does not keep it out. Its name is in the Host header, which it cannot choose freely.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import Scope

from app.errors import Forbidden


def require_local(scope: Scope, allowed_origins: Collection[str]) -> None:
    """Raise where a request comes from a page that is not of this machine.

    Args:
        scope: The request.
        allowed_origins: Pages that may call nevertheless.

    Raises:
        Forbidden: It does.
    """
    for name, value in scope["headers"]:
        if name == b"host" and not is_local(b"http://" + value):
            raise _foreign(value)
        if name == b"origin" and not is_local(value) and value.decode("latin-1") not in allowed_origins:
            raise _foreign(value)


@lru_cache(maxsize=256)
def is_local(url: bytes) -> bool:
    """Say whether the host of a URL is this machine by name or by address."""
    try:
        host = urlsplit(url.decode("latin-1")).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _foreign(name: bytes) -> Forbidden:
    return Forbidden(
        f"{name.decode('latin-1')[:100]!r} is not this machine, and the server has no API keys. Make one with "
        "`openbook keys create NAME`, allow a page with --cors-origin, or start with --insecure."
    )
