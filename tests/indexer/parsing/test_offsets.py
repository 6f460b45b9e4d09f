"""Whatever is written, headings, tables and pages lie where they are said to."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from indexer.parsing.markdown import headings, tables
from indexer.parsing.source import Content, NoText, SourceFile
from indexer.parsing.writing import TextWriter, one_line
from tests.indexer.parsing.samples import only
from tests.indexer.parsing.test_formats import check_offsets

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ROWS = st.lists(st.lists(WORDS, max_size=4), max_size=4)
BLOCKS = st.one_of(
    st.tuples(st.just("heading"), st.integers(0, 9), WORDS),
    st.tuples(st.just("paragraph"), WORDS),
    st.tuples(st.just("item"), WORDS, st.integers(0, 3), st.sampled_from(["-", "1.", " "])),
    st.tuples(st.just("table"), ROWS),
    st.tuples(st.just("page")),
)
MARKDOWN = st.lists(
    st.sampled_from(
        ["# a", "## b ##", "a", "===", "---", "| a | b |", "|---|---|", "a|b", "-|-", "```", "", " x", "| 1 |"]
    )
).map(lambda lines: "\n".join(["No front matter.", *lines]))


@given(st.lists(BLOCKS, max_size=12))
def test_what_is_written_lies_where_it_is_said_to(blocks):
    writer = TextWriter()
    writer.page()
    for name, *arguments in blocks:
        getattr(writer, name)(*arguments)
    try:
        parsed = writer.parsed(SourceFile(Path("a.pdf"), "a.pdf"), Content(b""))
    except NoText:
        return
    check_offsets(parsed)
    text = parsed.document.text
    pages = 1 + sum(1 for name, *_ in blocks if name == "page")
    assert len(parsed.pages) == pages
    written = [one_line(block[2]) for block in blocks if block[0] == "heading"]
    assert [heading.title for heading in parsed.headings] == [title for title in written if title]
    for table in parsed.tables:
        header, body = text[table.start : table.body].split("\n")[:2], text[table.body : table.end].split("\n")
        columns = header[1].count("---")
        assert all(row.replace("\\|", "").count("|") == columns + 1 for row in (header[0], *body))


@given(MARKDOWN)
def test_headings_and_tables_of_markdown_lie_where_they_are_said_to(text):
    parsed = only("a.md", text.encode())
    check_offsets(parsed)
    assert parsed.headings == headings(parsed.document.text)
    assert parsed.tables == tables(parsed.document.text)


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="ascii", categories=["L", "N", "Zs"]), max_size=30), max_size=6),
        max_size=5,
    )
)
def test_every_word_of_a_page_is_in_the_text_of_its_page(pages):
    html = "".join(f"<p>{' '.join(lines)}</p>" for lines in pages)
    if "".join(map("".join, pages)).strip():
        text = only("a.html", html.encode()).document.text
        assert text.split() == [word for lines in pages for line in lines for word in line.split()]
