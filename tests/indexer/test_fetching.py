"""URLs: what lies on the public internet is fetched, and nothing else is reached."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.sources.addresses import resolve, why_not_public
from indexer.sources.fetching import Fetcher, FetchLimits, FetchRefused

PUBLIC = "93.184.215.14"


class Handler(BaseHTTPRequestHandler):
    """Answers by path; remembers what it was asked."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Host"]))
        kind, _, rest = self.path[1:].partition("/")
        if kind == "to":
            self.answer(302, b"", Location=rest)
        elif kind == "loop":
            self.answer(302, b"", Location=self.path)
        elif kind == "drip":
            self.answer(200, b"", length=1000)
            for _ in range(100):
                time.sleep(0.05)
                self.wfile.write(b"x")
        elif kind == "gzip":
            self.answer(200, b"\x1f\x8b", **{"Content-Encoding": "gzip"})
        elif kind == "missing":
            self.answer(404, b"")
        else:
            self.answer(200, b"# Ferry\n\nFour shells.", **{"Content-Type": "text/html; charset=utf-8"})

    def answer(self, status: int, body: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()


@contextmanager
def server() -> Iterator[tuple[str, list]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        serving.daemon_threads = True
        serving.asked = []
        thread = threading.Thread(target=serving.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_port}", serving.asked
        finally:
            serving.shutdown()
            thread.join()


@pytest.fixture
def web() -> Iterator[tuple[str, list]]:
    with server() as running:
        yield running


@pytest.mark.parametrize(
    "url",
    [
        "http://2852039166/",
        "http://0xA9FEA9FE/",
        "http://0251.0376.0251.0376/",
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:9/",
        "http://127.1/",
        "http://0/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://10.1.2.3/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://localhost/",
    ],
)
def test_no_spelling_of_an_address_that_is_not_public_is_fetched(url):
    with pytest.raises(FetchRefused, match=r"only public ones are fetched from|Invalid IPv4 address"):
        Fetcher().fetch(url)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/a.md"])
def test_only_http_and_https_are_fetched(url):
    with pytest.raises(FetchRefused, match=r"only http and https|unsupported protocol"):
        Fetcher().fetch(url)


def test_a_name_with_one_private_address_among_public_ones_is_refused():
    fetcher = Fetcher(resolver=lambda host, port: [PUBLIC, "10.0.0.1"])
    with pytest.raises(FetchRefused, match=r"'mixed.example' is 10\.0\.0\.1, a private address"):
        fetcher.fetch("http://mixed.example/")


def test_a_name_that_gives_another_address_the_second_time_is_resolved_once(web):
    url, asked = web
    port = url.rpartition(":")[2]
    answers = iter([["127.0.0.1"], ["10.9.9.9"]])
    fetched = Fetcher(resolver=lambda host, port: next(answers), allow_private=True).fetch(
        f"http://rebind.example:{port}/a"
    )
    assert fetched.content.startswith(b"# Ferry")
    assert asked == [("/a", f"rebind.example:{port}")]
    assert next(answers) == ["10.9.9.9"]


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/", "http://2852039166/", "file:///etc/passwd"])
def test_a_redirect_is_checked_like_the_url_itself(web, target):
    url, asked = web
    port = url.rpartition(":")[2]
    local = {"public.example": ["127.0.0.1"]}
    fetcher = Fetcher(resolver=lambda host, port: local.get(host) or resolve(host, port))

    # The first hop stands for a public server; only it may be reached on loopback.
    class FirstHopOnly(Fetcher):
        async def _checked(self, address):
            return "127.0.0.1" if address.host == "public.example" else await fetcher._checked(address)

    with pytest.raises(FetchRefused, match=r"only public ones|only http and https|nsupported"):
        FirstHopOnly().fetch(f"http://public.example:{port}/to/{target}")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/missing", "answered 404"),
        ("/loop", "more than 2 redirects"),
        ("/gzip", "compressed content"),
        ("/drip", r"longer than the 0\.3 s"),
        ("/large", "larger than"),
    ],
)
def test_an_answer_of_no_use_is_refused_with_its_reason(web, path, reason):
    limits = FetchLimits(seconds=0.3, bytes=10, redirects=2)
    with pytest.raises(FetchRefused, match=reason):
        Fetcher(limits, allow_private=True).fetch(web[0] + path)


def test_a_user_name_in_a_url_is_refused():
    with pytest.raises(FetchRefused, match="user name or a password"):
        Fetcher().fetch("http://me:secret@example.org/")


def test_the_proxy_of_the_environment_is_ignored(web, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert Fetcher(allow_private=True).fetch(f"{web[0]}/a").content


@pytest.mark.parametrize(
    ("path", "name"),
    [("/", "index.html"), ("/guide", "guide.html"), ("/a/page.html", "page.html"), ("/x.md", "x.md.html")],
)
def test_the_media_type_says_the_format(web, path, name):
    assert Fetcher(allow_private=True).fetch(web[0] + path).name == name


@given(st.ip_addresses())
def test_an_address_is_public_or_has_a_reason(address):
    reason = why_not_public(str(address))
    assert reason is not None or address.is_global
