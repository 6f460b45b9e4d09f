"""Documents from http and https, without reaching anything but the public internet.

The name is resolved once, every address of it is checked, and the connection goes to a checked one: a name that gives
another answer the second time (rebinding) gains nothing. Each redirect goes through the same check, and proxies of the
environment are ignored, since they would resolve the name themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import httpx

from corpus.errors import OpenbookError
from indexer.sources.addresses import Resolver, resolve, why_not_public

SCHEMES = ("http", "https")
SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
"""The format that a media type stands for."""


class FetchRefused(OpenbookError):
    """A URL is not fetched: it leads where it must not, or its answer is of no use."""


@dataclass(frozen=True)
class FetchLimits:
    """What fetching one URL may take, its redirects included."""

    seconds: float = 30.0
    bytes: int = 64 << 20
    redirects: int = 5


@dataclass(frozen=True)
class Fetched:
    """What was fetched."""

    url: str
    """Where it came from in the end, behind every redirect."""
    content: bytes
    name: str
    """A file name whose suffix says the format, as the media type does or else the URL."""


@dataclass(frozen=True)
class Fetcher:
    """Fetches URLs."""

    limits: FetchLimits = field(default_factory=FetchLimits)
    resolver: Resolver = resolve
    allow_private: bool = False
    """For tests, which have no server but their own."""

    def fetch(self, url: str) -> Fetched:
        """Return what lies under a URL.

        Raises:
            FetchRefused: it is no address of the public internet, or answers with an error, too much or too slowly.
        """
        try:
            return asyncio.run(self._fetch(url))
        except TimeoutError as error:
            raise FetchRefused(f"it took longer than the {self.limits.seconds:g} s that a URL may take") from error
        except httpx.TooManyRedirects as error:
            raise FetchRefused(f"more than {self.limits.redirects} redirects") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise FetchRefused(f"it cannot be fetched: {str(error) or type(error).__name__}") from error

    async def _fetch(self, url: str) -> Fetched:
        client = httpx.AsyncClient(
            transport=_CheckedTransport(self._checked),
            follow_redirects=True,
            max_redirects=self.limits.redirects,
            trust_env=False,
            timeout=self.limits.seconds,
            # Compressed content could inflate a thousandfold.
            headers={"Accept-Encoding": "identity", "User-Agent": "openbook"},
        )
        async with asyncio.timeout(self.limits.seconds), client, client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise FetchRefused(f"it answered {response.status_code} {response.reason_phrase}".rstrip())
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise FetchRefused("it answered with compressed content, which was not asked for")
            content = bytearray()
            async for part in response.aiter_raw():
                content += part
                if len(content) > self.limits.bytes:
                    raise FetchRefused(f"larger than the {self.limits.bytes >> 20} MiB that a URL may give")
            return Fetched(str(response.url), bytes(content), _name(response))

    async def _checked(self, url: httpx.URL) -> str:
        """Return the address to connect to."""
        if url.scheme not in SCHEMES:
            raise FetchRefused(f"{url.scheme or 'no scheme'}: only http and https are fetched")
        if url.userinfo:
            raise FetchRefused("it holds a user name or a password, which would be stored with the document")
        if not url.host:
            raise FetchRefused("it names no host")
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = await asyncio.to_thread(self.resolver, url.host, port)
        except OSError as error:
            raise FetchRefused(f"the host {url.host!r} is not known") from error
        if not addresses:
            raise FetchRefused(f"the host {url.host!r} has no address")
        for address in addresses:
            reason = why_not_public(address)
            if reason and not self.allow_private:
                raise FetchRefused(f"the host {url.host!r} is {address}, {reason}; only public ones are fetched from")
        return addresses[0]


class _CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was checked; Host and the name in the TLS certificate stay those of the URL."""

    def __init__(self, checked: Callable[[httpx.URL], Awaitable[str]]) -> None:
        self._checked = checked
        self._transport = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; a redirect comes as another."""
        address = await self._checked(request.url)
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            extensions={**request.extensions, "sni_hostname": request.url.host},
        )
        return await self._transport.handle_async_request(pinned)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


def _name(response: httpx.Response) -> str:
    """Return the last part of the URL with the suffix of the media type; a `.md` sent as plain text stays one."""
    last = PurePosixPath(PurePosixPath(response.url.path).name or "index")
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    suffix = SUFFIXES.get(media_type)
    if suffix is None or (suffix == ".txt" and last.suffix) or last.suffix.lower() == suffix:
        return last.name
    return last.name + suffix
