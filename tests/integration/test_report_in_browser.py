"""The report in a real browser: nothing overflows at 390 pixels, no label is cut or covered, nothing is requested.

A small server on loopback is the browser's proxy, so every request of the browser ends there and is noted. The report
is shown in a frame of the width under test, since a headless window cannot be as narrow as a telephone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from experiments.report.write import write_report
from tests.experiments.report.sample_run import rewrite_results, write_sample

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOST = "report.test"
WIDTHS = (360, 390, 768, 1024, 1280)
OF_THE_BROWSER = re.compile(r"(^|[/.])(google|googleapis|gvt1)\.com(:443|/|$)")
"""Hosts that Chromium asks on its own account, whatever it shows."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

WRAPPER = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><script>
const faults = {};
function shown(element) { return element.getClientRects().length > 0; }
function covered(one, other) {
  const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  return across > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
}
function inspect(frame) {
  const page = frame.contentDocument, found = [];
  const root = page.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} wide`);
  for (const chart of page.querySelectorAll("svg[role=img]")) {
    if (!shown(chart)) continue;
    const frame = chart.getBoundingClientRect(), labels = [...chart.querySelectorAll("text")];
    for (const label of labels) {
      const box = label.getBoundingClientRect();
      const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 2;
      if (!inside || box.bottom > frame.bottom + 2) found.push(`cut: ${label.textContent}`);
    }
    labels.forEach((one, index) => labels.slice(index + 1).forEach((other) => {
      if (covered(one, other)) found.push(`covered: ${one.textContent} / ${other.textContent}`);
    }));
  }
  if (![...page.querySelectorAll("svg[role=img]")].some(shown)) found.push("no chart is shown");
  return found;
}
const widths = WIDTHS;
for (const width of widths) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 900px; border: 0`;
  frame.onload = () => {
    faults[width] = inspect(frame);
    if (Object.keys(faults).length < widths.length) return;
    document.body.textContent = "FAULTS" + JSON.stringify(faults) + "END";
  };
  frame.src = "/report.html?" + width;
  document.body.append(frame);
}
</script>"""


class Site(BaseHTTPRequestHandler):
    """Serves the report and its wrapper, and notes everything else that is asked for."""

    pages: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        page = self.pages.get(self.path.removeprefix(f"http://{HOST}").partition("?")[0])
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page or b"")

    def do_CONNECT(self) -> None:
        self.asked.append(self.path)
        self.send_error(502)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(pages: dict[str, bytes]) -> Iterator[int]:
    Site.pages, Site.asked = pages, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def browse(report: Path, profile: Path) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Open the report at every width; return faults by width, lines of the console, and requests for anything else."""
    wrapper = WRAPPER.replace("WIDTHS", json.dumps(WIDTHS)).encode()
    with served({"/": wrapper, "/report.html": report.read_bytes()}) as port:
        finished = subprocess.run(
            [
                str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={profile}",
                f"--proxy-server=127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>", "--window-size=1400,1000",
                "--virtual-time-budget=20000", "--dump-dom", f"http://{HOST}/",
            ],
            capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": str(profile)},
        )  # fmt: skip
        asked = list(Site.asked)
    found = re.search(r"FAULTS(.*)END", finished.stdout)
    assert found, f"the browser did not finish: {finished.stderr[-2000:]}"
    console = [line for line in finished.stderr.splitlines() if "CONSOLE" in line]
    expected = {f"http://{HOST}/", *(f"http://{HOST}/report.html?{width}" for width in WIDTHS)}
    others = [path for path in asked if path not in expected and not OF_THE_BROWSER.search(path)]
    return json.loads(found[1]), console, others


@pytest.mark.parametrize("kind", ["complete", "hostile"])
def test_the_report_fits_every_width_and_loads_nothing(tmp_path: Path, kind: str) -> None:
    run = tmp_path / "run"
    results = write_sample(run)
    if kind == "hostile":
        long = {"retrieval_with_reranking_and_query_expansion_" * 3: results.arms["ft_rag"]}
        rewrite_results(run, arms={**results.arms, **long}, verdict="<img src=http://other.test/x.png>" + "w" * 400)
    faults, console, requests = browse(write_report(run)[0], tmp_path / "profile")
    assert faults == {str(width): [] for width in WIDTHS}
    assert console == []
    assert requests == []


def test_the_browser_would_notice_a_page_that_overflows_cuts_a_label_complains_or_loads_something(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><div style='width: 2000px'>wide</div><img src='http://other.test/x.png'><script>console.error('fault')</script>"
        "<svg role='img' width='50' height='20' style='overflow: visible'>"
        "<text x='0' y='14'>a label that is much too long</text><text x='4' y='14'>another</text></svg>",
        encoding="utf-8",
    )
    faults, console, requests = browse(page, tmp_path / "profile")
    kinds = {fault.partition(" ")[0] for fault in faults["390"]}
    assert kinds == {"the", "cut:", "covered:"}
    assert any("fault" in line for line in console)
    assert set(requests) == {"http://other.test/x.png"}
