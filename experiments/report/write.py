"""From a finished run to `report.html` and `report.md`.

The reports depend on the run's files alone: no clock, no network, no installed version. The same files give the same
bytes.
"""

from __future__ import annotations

from pathlib import Path

import jinja2
from markupsafe import Markup

from experiments.report import markdown, words
from experiments.report.costs import FIRST_QUESTIONS
from experiments.report.figures import svg
from experiments.report.inputs import read_inputs
from experiments.report.page import Page, build_page
from experiments.report.typography import highlight, unbroken
from experiments.run_folder import replace

TEMPLATES = Path(__file__).parent / "templates"


def write_report(run: Path) -> tuple[Path, Path]:
    """Write `report.html` and `report.md` into the run folder, in place of older ones; return their paths.

    Raises:
        RunNotFound: There is no such folder.
        RunDamaged: A file of the run is missing or malformed.
    """
    page = build_page(read_inputs(run))
    html, plain = run / "report.html", run / "report.md"
    replace(html, render_html(page))
    replace(plain, render_markdown(page))
    return html, plain


def render_html(page: Page) -> str:
    """Return the report as one HTML document that loads nothing."""
    environment = _environment(autoescape=True)
    environment.filters.update(visible=words.visible, unbroken=unbroken, highlight=highlight)
    environment.globals["icon"] = lambda family: Markup(svg.icon(family))
    return environment.get_template("report.html.jinja").render(page=page)


def render_markdown(page: Page) -> str:
    """Return the report in Markdown; the template's every expression is escaped."""
    environment = _environment(autoescape=False)
    environment.finalize = markdown.finalize
    environment.globals.update(table=markdown.table, fenced=markdown.fenced)
    return environment.get_template("report.md.jinja").render(page=page)


def _environment(autoescape: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(words=words, first_questions=FIRST_QUESTIONS)
    return environment
