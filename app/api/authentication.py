"""Who calls, and may they call this: before anything of the request's body is read.

Which scope a request needs follows from its method and path. What is not named here needs `write` unless it is a GET,
so that a route that nobody thought of is rather closed than open.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from app.access.caller import EVERYBODY, Caller, acting_as
from app.access.key import ScopeName
from app.access.live_keys import LiveKeys
from app.api.problems import error_response
from app.api.rebinding import require_local
from app.errors import AppError, Forbidden, KeyRequired

OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Nobody is asked for a key here; the first two say more to those who show one. The third is the same everywhere."""
READING = frozenset({"/v1/answers", "/v1/prompts", "/v1/search", "/v1/chat/completions"})
"""Posted to, though nothing is changed."""
ADMINISTERED = ("/v1/checkpoints", "/v1/collections", "/v1/experiments")
"""To change anything below these needs `admin`."""
JOBS = "/v1/jobs"
NOBODY = Caller("nobody", "", frozenset(), frozenset(), is_known=False)
"""Who shows no key at an open path of a server that has keys."""


class Authenticator:
    """Names the caller of each request, or refuses it with 401 or 403."""

    def __init__(self, app: ASGIApp, keys: LiveKeys, local_only: bool, allowed_origins: Collection[str]) -> None:
        """Wrap an ASGI app.

        Args:
            app: What is wrapped.
            keys: The API keys.
            local_only: While there are no keys, refuse what comes from pages of other machines.
            allowed_origins: But not from these.
        """
        self._app = app
        self._keys = keys
        self._local_only = local_only
        self._allowed_origins = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller = self._authorised(scope)
        except AppError as error:
            await error_response(error, scope)(scope, receive, send)
            return
        scope["state"]["caller"] = caller
        with acting_as(caller):
            await self._app(scope, receive, send)

    def _authorised(self, scope: Scope) -> Caller:
        """Return the caller of a request.

        Raises:
            KeyRequired, Forbidden: It may not be made.
            KeysDamaged: Nobody knows.
        """
        secret = bearer(scope)
        caller = self._keys.caller(secret)
        if caller is EVERYBODY and self._local_only:
            require_local(scope, self._allowed_origins)
        if scope["path"] in OPEN:
            return caller or NOBODY
        if caller is None:
            raise _key_required(secret)
        needed = scope_needed(scope["method"], scope["path"])
        if not caller.scopes & {needed, "write" if shows_jobs(scope["method"], scope["path"]) else needed}:
            raise Forbidden(
                f"{scope['method']} {scope['path']} needs the scope {needed!r}, and the key {caller.name!r} has "
                f"{', '.join(sorted(caller.scopes))}. Make another with `openbook keys create NAME --scope {needed}`.",
                needed,
            )
        return caller


def scope_needed(method: str, path: str) -> ScopeName:
    """Return the scope that a request needs."""
    if method in ("GET", "HEAD", "OPTIONS") or (method == "POST" and path in READING):
        return "read"
    return "admin" if path.startswith(ADMINISTERED) else "write"


def shows_jobs(method: str, path: str) -> bool:
    """Say whether a request looks at jobs, as those may who upload without reading: a job says nothing of texts."""
    return method == "GET" and (path == JOBS or path.startswith(f"{JOBS}/"))


def bearer(scope: Scope) -> str | None:
    """Return the bearer token of a request; "" where it is empty, ambiguous or of another scheme, None without any."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if not given:
        return None
    scheme, _, secret = given[0].decode("latin-1").partition(" ")
    return secret.strip() if len(given) == 1 and scheme.lower() == "bearer" else ""


def _key_required(secret: str | None) -> KeyRequired:
    if secret is None:
        return KeyRequired(
            "This server wants an API key: `Authorization: Bearer ob_…`. Openbook's own commands send that of "
            "OPENBOOK_API_KEY.",
            shown=False,
        )
    return KeyRequired("The API key is not valid, or was revoked. `openbook keys list` shows those in use.", shown=True)
