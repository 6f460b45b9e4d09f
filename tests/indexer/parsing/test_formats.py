"""Every format gives the same text: headings, paragraphs, lists, tables, and where each of them lies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from indexer.parsing import PARSERS
from indexer.parsing.source import Parsed
from tests.indexer.parsing import samples
from tests.indexer.parsing.samples import FACT, ITEM, SAMPLES, TABLE, TITLE, only, refusal, replaced

WORDS = ("", "Amber", "Birch", "Cedar", "Delta", "Ember")
ROOT = Path(__file__).parents[3]
WITHOUT_HEADINGS = {".csv", ".json", ".jsonl", ".txt"}
WITHOUT_TABLES = {".pdf", ".json", ".jsonl", ".txt"}
SUFFIXES_OF_ONE = {".markdown": ".md", ".text": ".txt", ".htm": ".html", ".xhtml": ".html", ".ndjson": ".jsonl"}


def check_offsets(parsed: Parsed) -> None:
    """Assert that what is said of places in a text is true of it."""
    text = parsed.document.text
    for heading in parsed.headings:
        assert 0 <= heading.start < heading.end <= len(text)
        assert heading.title in text[heading.start : heading.end]
        assert 1 <= heading.level <= 6
    assert [heading.start for heading in parsed.headings] == sorted(heading.start for heading in parsed.headings)
    end = 0
    for table in parsed.tables:
        assert end <= table.start < table.body < table.end <= len(text)
        assert text[table.body - 1] == "\n"
        assert "\n\n" not in text[table.start : table.end]
        end = table.end
    assert list(parsed.pages) == sorted(parsed.pages)
    assert parsed.pages[:1] in {(), (0,)}
    assert all(page <= len(text) for page in parsed.pages)


def tables_of(parsed: Parsed) -> list[str]:
    return [parsed.document.text[table.start : table.end] for table in parsed.tables]


def test_there_is_a_sample_of_every_format():
    assert set(PARSERS) == set(SAMPLES) | set(SUFFIXES_OF_ONE) | {".tsv"}


@pytest.mark.parametrize("suffix", SAMPLES)
def test_every_format_gives_the_same_facts(suffix):
    parsed = only(f"leave{suffix}", SAMPLES[suffix]())
    text = parsed.document.text
    check_offsets(parsed)
    assert parsed.document.id.startswith(f"leave{suffix}")
    for words in (TITLE, FACT, ITEM, *(cell for row in TABLE for cell in row)):
        assert words in text
    if suffix not in WITHOUT_HEADINGS:
        assert parsed.headings[0].title == TITLE
    if suffix not in WITHOUT_TABLES:
        (table,) = parsed.tables
        assert text[table.start : table.body] == "| Team | Days |\n| --- | --- |\n"
        assert text[table.body : table.end].startswith("| Harbour | 31 |\n| Mill | 29 |")


@pytest.mark.parametrize("suffix", [suffix for suffix in SAMPLES if suffix not in {".json", ".jsonl"}])
def test_a_file_of_each_format_that_holds_nothing_is_reported_and_is_no_document(suffix):
    for content in (b"", b" \n\n"):
        (found,) = samples.read_bytes(f"a{suffix}", content)
        assert not found.document.text.strip() if isinstance(found, Parsed) else found.reason


def test_the_library_of_a_format_is_loaded_with_the_first_file_of_it():
    program = (
        "import sys, indexer.parsing.reading, indexer.parsing.pool\n"
        "libraries = {'bs4', 'lxml', 'docutils', 'docx', 'pptx', 'openpyxl', 'pypdfium2', 'charset_normalizer'}\n"
        "print(sorted(libraries & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


# What a file is, whatever its name says.


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("page.pdf", b"<!DOCTYPE html><html><body>404 Not Found</body></html>", "not a PDF: the file is an HTML page"),
        ("a.pdf", b"", "not a PDF"),
        ("old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an Office file of the old kind (.doc"),
        ("page.docx", b"<html>", "an HTML page"),
        ("p.xlsx", samples.docx, "not a workbook (XLSX): the file is a Word document (DOCX)"),
        ("p.docx", samples.xlsx, "not a Word document (DOCX): the file is a workbook (XLSX)"),
        ("p.pptx", samples.epub, "the file is an EPUB book"),
        ("p.epub", samples.pptx, "the file is a presentation (PPTX)"),
        ("plain.docx", lambda: samples.make_zip({"a.txt": b"x"}), "the file is a zip file"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(50), "holds image/png, not text"),
        ("paper.md", samples.pdf, "holds a PDF, not text"),
        ("doc.txt", b"{\\rtf1 hello}", "holds RTF, not text"),
        ("word.html", samples.docx, "holds a Word document (DOCX), not text"),
        ("a.json", b'{"a": ', "not JSON"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused_with_what_it_is(name, content, reason):
    assert reason in refusal(name, content() if callable(content) else content)


# HTML


def test_scripts_styles_and_menus_of_a_page_are_left_out():
    page = (
        "<html><head><title>Leave &amp; pay</title><style>p{}</style></head><body><header>Site</header>"
        "<script>var SECRET=1</script><nav>Menu</nav><p>Fact</p><aside>Ads</aside><div hidden>Hidden</div>"
        "<p style='display: none'>Unseen</p>"
        "<div role='navigation'>Crumbs</div><noscript>Enable</noscript><button>Click</button>"
        "<footer>Imprint</footer></body></html>"
    )
    parsed = only("a.html", page.encode())
    assert parsed.document.text == "Fact"
    assert parsed.document.title == "Leave & pay"


def test_the_main_part_of_a_page_is_the_document_with_the_header_of_its_article():
    page = (
        "<div>Cookies</div><main><article><header><h1>Title</h1></header>Body <b>b</b>old"
        "<aside>Note</aside><footer>By Ana</footer></article></main><p>Related</p>"
    )
    assert only("a.html", page.encode()).document.text == "# Title\n\nBody bold\n\nNote\n\nBy Ana"


def test_a_page_of_nothing_but_its_header_keeps_it_and_says_so():
    parsed = only("a.html", b"<header><p>All there is</p></header>")
    assert parsed.document.text == "All there is"
    assert "header" in parsed.notes[0]


def test_a_page_without_text_is_refused():
    assert "no text" in refusal("a.html", b"<html><body><script>render()</script></body></html>")


def test_lists_of_a_page_keep_their_order_and_depth():
    page = "<ul><li>a<ul><li>b</li></ul>tail</li><li><p>c</p><p>more</p></li></ul><ol start=3><li>x<li>y</ol>"
    text = only("a.html", page.encode()).document.text
    assert text == "- a\n  - b\n  tail\n- c\n  more\n3. x\n4. y"


def test_cells_that_span_are_told_in_every_row():
    page = (
        "<table><thead><tr><th>Team<th>Floor<th>Room</thead><tr><td rowspan=2>Mill<td>1<td>A|B</tr>"
        "<tr><td colspan=2>none</tr></table>"
    )
    (table,) = tables_of(only("a.html", page.encode()))
    assert table.split("\n")[2:] == ["| Mill | 1 | A\\|B |", "| Mill | none |  |"]


def test_a_table_that_only_lays_a_page_out_is_no_table():
    page = "<table><tr><td><h2>Left</h2><p>one</p></td><td><table><tr><td>a<td>b<tr><td>1<td>2</table></td></table>"
    parsed = only("a.html", page.encode())
    assert parsed.document.text == "## Left\n\none\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_code_in_a_page_keeps_its_lines():
    assert only("a.html", b"<pre>if x:\n    y()\n</pre>").document.text == "if x:\n    y()"


def test_a_page_as_deep_as_its_author_likes_is_read_or_refused_as_a_whole():
    for depth in (200, 100_000):
        (found,) = samples.read_bytes("a.html", b"<div>" * depth + b"core" + b"</div>" * depth + b"<p>after</p>")
        if isinstance(found, Parsed):
            assert "core" in found.document.text
            assert "after" in found.document.text


@pytest.mark.parametrize(
    "page",
    [
        '<meta charset="iso-8859-1"><p>café „ü“</p>'.encode("cp1252"),
        '<?xml version="1.0" encoding="koi8-r"?><html><p>café „ü“</p></html>'.replace("é „ü“", "ч").encode("koi8-r"),
        "<p>café „ü“</p>".encode("utf-16"),
        '<meta charset="utf-16"><p>café „ü“</p>'.encode(),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_is_in(page):
    assert only("a.html", page).document.text in {"café „ü“", "cafч"}


# PDF


def test_a_page_without_text_is_noted_and_the_others_are_read():
    parsed = only("a.pdf", samples.make_pdf([["Some text here."], []]))
    assert parsed.document.text == "Some text here."
    assert parsed.notes == ("page 2: no text",)
    assert parsed.pages == (0, 15)


def test_a_pdf_of_nothing_but_pictures_is_no_document():
    assert "no text on its 2 pages: scanned?" in refusal("a.pdf", samples.make_pdf([[], []]))


def test_running_headers_and_footers_and_page_numbers_are_left_out():
    pages = [
        ["Harbour handbook", f"{WORDS[page]} is the word of page {page}.", "2024 Ltd", f"Page {page} of 5"]
        for page in range(1, 6)
    ]
    parsed = only("a.pdf", samples.make_pdf(pages))
    assert parsed.document.text == "\n\n".join(f"{WORDS[page]} is the word of page {page}." for page in range(1, 6))
    assert [parsed.document.text[start : start + 5] for start in parsed.pages] == list(WORDS[1:])


def test_headings_that_count_the_pages_are_no_running_headers():
    pages = [[(f"Chapter {page}", 18), f"{WORDS[page]} is the word."] for page in range(1, 6)]
    text = only("a.pdf", samples.make_pdf(pages)).document.text
    assert text.startswith("# Chapter 1\n\nAmber is the word.\n\n# Chapter 2")


def test_lines_that_differ_in_more_than_the_number_of_the_page_are_kept():
    pages = [[f"Room {page * 7 % 5}", f"Team {page * page} has it", "x"] for page in range(1, 7)]
    text = only("a.pdf", samples.make_pdf(pages)).document.text
    assert all(line in text for page in pages for line in page[:2])


def test_lines_broken_for_the_width_of_the_page_are_joined_and_items_are_not():
    lines = ["A sentence that is as long as the page is wide and goes", "on here. " + "x" * 50, "- one", "- two", "end"]
    assert only("a.pdf", samples.make_pdf([lines])).document.text == f"{lines[0]} {lines[1]}\n- one\n- two\nend"


def test_lines_in_larger_letters_are_headings():
    pages = [[("Handbook", 24), "Text of the handbook.", ("Leave", 16), "Text on leave.", ("Pay", 16), "Text on pay."]]
    parsed = only("a.pdf", samples.make_pdf(pages))
    assert [(heading.level, heading.title) for heading in parsed.headings] == [
        (1, "Handbook"),
        (2, "Leave"),
        (2, "Pay"),
    ]


@pytest.mark.parametrize(("given", "title"), [("Leave policy", "Leave policy"), ("Microsoft Word - x.doc", "a")])
def test_the_title_of_a_pdf_is_the_one_its_author_gave(given, title):
    assert only("a.pdf", samples.make_pdf([["text"]], title=given)).document.title == title


def test_a_pdf_that_needs_a_password_is_refused_saying_so():
    encrypted = samples.pdf().replace(
        b"/Info",
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <" + b"00" * 32 + b"> /U <" + b"11" * 32 + b"> /P -4 >> /Info",
    )
    assert "password" in refusal("a.pdf", encrypted)


def test_a_pdf_of_junk_is_refused():
    assert "a damaged PDF" in refusal("a.pdf", b"%PDF-1.7\n" + b"junk" * 50)


# Office


def test_text_in_all_corners_of_a_word_document_is_read(tmp_path):
    body = (
        "<w:p><w:r><w:t>plain </w:t></w:r><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins><w:del><w:r><w:delText>gone"
        "</w:delText></w:r></w:del></w:p><w:sdt><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent>"
        "</w:sdt><w:p><w:hyperlink><w:r><w:t>linked</w:t><w:tab/><w:t>tabbed</w:t></w:r></w:hyperlink></w:p>"
        "<w:p><w:r><w:t>line</w:t><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:r></w:p>"
    )
    xml = (
        '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{body}</w:body></w:document>"
    )
    text = only("a.docx", replaced(samples.docx(), {"word/document.xml": xml.encode()})).document.text
    assert text == "plain inserted\n\ncontrolled\n\nlinked\ttabbed\n\nline\n\nboxed"


def test_the_numbers_of_lists_are_read_though_they_are_not_in_the_text():
    import docx

    document = docx.Document()
    for text, style in (("a", "List Number"), ("b", "List Number"), ("c", "List Bullet"), ("d", "List Number")):
        document.add_paragraph(text, style=style)
        number = document.styles[style].element.find(".//{*}numId")
        properties = document.paragraphs[-1]._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val = int(number.values()[0])
        properties.get_or_add_ilvl().val = 0
    assert only("a.docx", samples._saved(document.save)).document.text == "1. a\n2. b\n- c\n3. d"


def test_rows_of_a_table_in_a_pdf_are_not_joined_for_being_as_long_as_each_other():
    wide = "A line of the text that reaches from the left margin of the page to the right one"
    rows = [f"CW24{number} New York 01:10 07:30" for number in range(12)]
    text = only("a.pdf", samples.make_pdf([[wide, wide, wide], rows])).document.text
    assert all(row in text.split("\n") for row in rows)


def test_every_slide_is_a_page_and_what_is_said_is_read_too():
    parsed = only("a.pptx", samples.pptx())
    assert len(parsed.pages) == 2
    assert parsed.document.text[parsed.pages[1] :].startswith("| Team")
    assert "Said and not shown." in parsed.document.text[: parsed.pages[1]]


def test_dates_and_numbers_of_a_sheet_are_written_as_a_person_would():
    from datetime import date, datetime

    import openpyxl

    book = openpyxl.Workbook()
    for row in (
        ["Day", "Share", "At"],
        [],
        [date(2024, 5, 1), 0.1 + 0.2, datetime(2024, 5, 1, 8, 30)],
        [None, 3.0, True],
    ):
        book.active.append(row)
    book.create_sheet("Nothing")
    parsed = only("a.xlsx", samples._saved(book.save))
    assert tables_of(parsed)[0].split("\n")[2:] == ["| 2024-05-01 | 0.3 | 2024-05-01 08:30:00 |", "|  | 3 | True |"]
    assert parsed.notes == ("sheets without values: Nothing",)


def test_formulas_that_no_program_computed_are_noted():
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["Team", "Days"], ["Mill", "=1+2"], ["All", "=SUM(B2)"]):
        book.active.append(row)
    parsed = only("a.xlsx", samples._saved(book.save))
    assert "Mill" in parsed.document.text
    assert parsed.notes[0].startswith("2 formulas without a stored value")


ENTITIES = '<!DOCTYPE x [<!ENTITY a "SECRET"><!ENTITY f SYSTEM "file:///etc/passwd">{}]>'
BOMB = "".join(f'<!ENTITY b{n + 1} "{f"&b{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    ("suffix", "entry"),
    [
        (".docx", "word/document.xml"),
        (".xlsx", "xl/worksheets/sheet1.xml"),
        (".pptx", "ppt/slides/slide1.xml"),
        (".epub", "OEBPS/book.opf"),
        (".epub", "OEBPS/one.xhtml"),
    ],
)
@pytest.mark.parametrize("name", ["f", "b9"])
def test_entities_neither_read_files_nor_multiply(suffix, entry, name):
    import io
    import zipfile

    sample = SAMPLES[suffix]()
    with zipfile.ZipFile(io.BytesIO(sample)) as opened:
        xml = opened.read(entry).decode()
    declared = ENTITIES.format(f'<!ENTITY b0 "ha">{BOMB}')
    xml = xml.removeprefix(xml[: xml.index("?>") + 2] if xml.startswith("<?xml") else "")
    spoilt = declared + xml.replace(FACT, f"&{name};").replace("</dc:title>", f"&{name};</dc:title>")
    for found in samples.read_bytes(f"a{suffix}", replaced(sample, {entry: spoilt.encode()})):
        shown = found.document.text + found.document.title if isinstance(found, Parsed) else found.reason
        assert "root:" not in shown
        assert shown.count("ha") < 100


# EPUB


def test_the_chapters_of_a_book_come_in_the_order_of_reading_and_a_missing_one_is_noted():
    book = samples.make_epub({"z.xhtml": b"<h1>First</h1>", "a.xhtml": b"<p>Second</p>"}, title="The book")
    assert only("a.epub", book).document.text == "# First\n\nSecond"
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(book)) as opened:
        entries = {name: opened.read(name) for name in opened.namelist() if "a.xhtml" not in name}
    parsed = only("a.epub", samples.make_zip(entries))
    assert (parsed.document.text, parsed.document.title) == ("# First", "The book")
    assert "a.xhtml" in parsed.notes[0]


# reStructuredText


def test_restructured_text_reads_no_other_file_and_no_raw_html():
    text = only(
        "a.rst",
        b"Fact\n\n.. include:: /etc/passwd\n\n.. raw:: html\n\n   <script>SECRET</script>\n\n"
        b".. csv-table::\n   :file: /etc/passwd\n\nEnd",
    ).document.text
    assert "root:" not in text
    assert "SECRET" not in text
    assert text.startswith("Fact")
    assert text.endswith("End")


def test_what_restructured_text_does_not_know_stands_as_it_was_written():
    text = only(
        "a.rst", b"See :pep:`8` and :func:`run`.\n\n.. versionadded:: 3.4\n   Faster.\n\n.. note:: Mind it.\n\n*broken"
    ).document.text
    assert "run" in text
    assert "Faster." in text
    assert "Mind it." in text
    assert "*broken" in text


def test_sections_and_fields_of_restructured_text_are_kept():
    parsed = only(
        "a.rst", b"PEP: 8\nTitle: Style\n\nTop\n===\n\nOne\n---\n\n:Author: Ana\n\nTwo\n---\n\nx::\n\n    code  here\n"
    )
    assert [(heading.level, heading.title) for heading in parsed.headings] == [(1, "Top"), (2, "One"), (2, "Two")]
    assert parsed.document.text.startswith("PEP: 8\nTitle: Style\n")
    assert "- Author: Ana" in parsed.document.text
    assert "code  here" in parsed.document.text


# CSV and JSON


def test_a_row_with_a_text_is_a_document():
    content = (
        'id,Title,text,team,authority\na,Leave,"Thirty\ndays",Mill,2\n,,No id,,\nb,,,,\na,,again,,\nx,x,x,x,1,more\n'
    )
    first, second, third, again, long = samples.read_bytes("a.csv", content.encode())
    assert (first.document.id, first.document.title, first.document.text) == ("a", "Leave", "Thirty\ndays")
    assert (first.document.metadata, first.document.authority) == ({"team": "Mill"}, 2)
    assert (second.document.id, second.document.text) == ("a.csv:4", "No id")
    assert third.document.text == ""
    assert (again.line, "taken by line 2" in again.reason) == (6, True)
    assert (long.line, long.reason) == (7, "6 cells for 5 columns")


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ";"), ("a.csv", "|"), ("a.tsv", "\t"), ("a.csv", "\t")])
def test_whatever_separates_the_cells_a_file_without_texts_is_a_table(name, mark):
    content = "\n".join(mark.join(row) for row in [("Team", "Where, when"), *TABLE[1:]])
    (table,) = tables_of(only(name, content.encode()))
    assert table == "| Team | Where, when |\n| --- | --- |\n| Harbour | 31 |\n| Mill | 29 |"


def test_an_array_of_json_is_many_documents_and_one_that_is_none_is_told_by_its_place():
    content = (
        b'[{"id": 1, "text": "one"}, {"title": "no text"}, {"text": "three", "team": "a"}, {"id": 1, "text": "x"}]'
    )
    one, bad, three, again = samples.read_bytes("a.json", content)
    assert (one.document.id, three.document.id, three.document.metadata) == ("1", "a.json:3", {"team": "a"})
    assert bad.reason == "document 2: text: missing"
    assert again.reason == "document 4: the id '1' is taken by 1"


def test_other_json_is_a_text_that_can_be_read():
    assert only("a.json", b'{"port": 80}').document.text == '{"port": 80}'
    assert only("a.json", b'{"a":[' + b"1," * 200 + b"1]}").document.text.startswith('{\n "a": [\n  1,')


def test_a_document_of_json_keeps_its_fields():
    parsed = only("a.json", b'{"text": "one", "effective": "2024-05-01", "team": {"name": "a"}}')
    assert (parsed.document.id, parsed.document.effective.isoformat()) == ("a.json", "2024-05-01")
    assert parsed.document.metadata == {"team": '{"name": "a"}'}
