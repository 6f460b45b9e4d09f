from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from experiments.report import markdown
from experiments.report.tables import Cell, Column, Table
from experiments.report.write import write_report
from tests.experiments.report.sample_run import rewrite_results, write_sample

HOSTILE = "a | b <script>alert(1)</script> `c` [d](https://e.example) ![f](g) **h** _i_ ~~j~~ $k$ \\\n\n# l\n- m &lt;"
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def inline(text: str) -> list[Token]:
    """The inline tokens of one paragraph, as an independent parser of CommonMark reads it."""
    tokens = PARSER.parse(text)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return tokens[1].children or []


@pytest.mark.parametrize(
    "text", [HOSTILE, "# a", "- a", "+ a", "1. a", "> a", "=== a", "_a_ b_c", "&amp;", "<a@b.example>"]
)
def test_hostile_text_reads_as_itself(text: str) -> None:
    tokens = inline(markdown.escape(text))
    assert {token.type for token in tokens} <= {"text", "text_special"}
    assert "".join(token.content for token in tokens) == " ".join(text.split())


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), min_size=1))
def test_any_text_reads_as_itself(text: str) -> None:
    expected = " ".join(text.split())
    escaped = markdown.escape(text)
    if not expected:
        assert escaped == ""
        return
    tokens = inline(f"x {escaped} x")
    assert {token.type for token in tokens} <= {"text", "text_special"}
    assert "".join(token.content for token in tokens) == f"x {expected} x"


def test_addresses_do_not_become_links() -> None:
    assert "https:" not in markdown.escape("see https://a.example and www.b.example")
    assert "www." not in markdown.escape("see https://a.example and www.b.example")


def test_names_and_sentences_are_left_as_they_are() -> None:
    text = "closed_book: +7.1 points (p < 0.001), 1.5 s; it's fine - really!"
    assert markdown.escape(text) == text


def test_a_code_block_holds_any_run_of_backticks() -> None:
    command = "echo ````` > x"
    (token,) = PARSER.parse(markdown.fenced(command))
    assert (token.type, token.content) == ("fence", f"{command}\n")


def test_a_table_keeps_its_columns_and_lines_them_up() -> None:
    content = Table(
        "c", (Column("a"), Column("b", numeric=True)), ((Cell("x|y", "z"), Cell("1")), (Cell("|"), Cell("22")))
    )
    written = markdown.table(content)
    assert len({len(line) for line in written.split("\n")}) == 1
    tokens = PARSER.parse(written)
    cells = [token.content for before, token in pairwise(tokens) if before.type in ("th_open", "td_open")]
    assert cells == ["a", "b", "x|y (z)", "1", "|", "22"]


def test_the_report_reads_well_as_text(run: Path) -> None:
    text = write_report(run)[1].read_text(encoding="utf-8")
    assert text.startswith("# On 40 questions, retrieval answered 80 %")
    assert "\n\n\n" not in text
    assert not re.search(r"[^\n]\n#", text)
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert re.search(r"\| rag +\| 2 passages found by search +\| +80 % \(65–90\) \| █{16}░{4} \|", text)
    for heading in ("## Accuracy", "## Cost", "## Forgetting", "## Checks", "## Examples", "## Method", "## Reproduce"):
        assert heading in text


def test_every_table_of_the_report_is_a_table_to_a_parser(run: Path) -> None:
    text = write_report(run)[1].read_text(encoding="utf-8")
    tables = [token for token in PARSER.parse(text) if token.type == "table_open"]
    assert len(tables) == sum(bool(re.fullmatch(r"\|( -+:? \|)+", line)) for line in text.split("\n")) > 6


def test_hostile_documents_and_answers_stay_text_in_the_report(run: Path) -> None:
    results = write_sample(run)
    arms = {"rag|`<b>": results.arms["rag"], **results.arms}
    rewrite_results(run, verdict=HOSTILE, command="x\n```\n<script>", arms=arms)
    for name in ("answers.jsonl", "corpora/main/questions.jsonl"):
        content = (run / name).read_text(encoding="utf-8")
        for honest in ("Morning Bell", "Selkie", "Grey Heron", "lamp oil"):
            content = content.replace(honest, "<script>alert(1)</script>|`[x](https://e.example)\\n# y")
        (run / name).write_text(content, encoding="utf-8")
    tokens = PARSER.parse(write_report(run)[1].read_text(encoding="utf-8"))
    kinds = {child.type for token in tokens for child in (token, *(token.children or ()))}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "s_open"}
    assert sum(token.type == "heading_open" and token.tag == "h1" for token in tokens) == 1


def test_a_failed_gate_stands_above_everything_but_the_verdict(run: Path) -> None:
    results = write_sample(run)
    failed = results.gates[0].model_copy(update={"passed": False, "detail": "Two documents are missing."})
    rewrite_results(run, gates=(failed, *results.gates[1:]))
    lines = write_report(run)[1].read_text(encoding="utf-8").split("\n")
    assert lines[2] == "> **✗ 1 check of 3 failed: do not rely on these figures.**"
    assert "Two documents are missing." in "".join(lines[3:7])
