"""PDF: its text page by page, without running headers and footers.

A PDF knows where characters stand, not what they are: lines that were broken for the width of the page are joined
again, and headings are those that the table of contents names, or lines in larger letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pypdfium2
from pypdfium2 import raw

from indexer.parsing.kinds import PDF, PDF_WITHIN, kind_of
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.pages import pages_without_text, running_lines
from indexer.parsing.pdf_lines import Line, Outline, blocks, edges_of, lines_of
from indexer.parsing.source import NotThisFormat, Parsed, SourceFile, as_damage
from indexer.parsing.writing import TextWriter, one_line

NO_TITLE = ("untitled", "microsoft word - ", "powerpoint presentation", ".doc", ".ppt", ".tex", ".indd")
"""What programs write for a title where the author gave none."""
MOST_CONTENTS = 10_000


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of a PDF file."""
    content = file.read(limits)
    if PDF not in content.data[:PDF_WITHIN]:
        raise NotThisFormat(f"not a PDF: the file is {kind_of(content.data) or 'something else'}")
    with as_damage("PDF"), closing(_open(content.data)) as opened:
        pages = [_page_lines(opened, index) for index in range(len(opened))]
        title, outline = _title(opened), _outline(opened)
    writer = TextWriter()
    ends = running_lines(edges_of(pages))
    contents = [page[top : len(page) - bottom] for page, (top, bottom) in zip(pages, ends, strict=True)]
    bare = [number for number, page in enumerate(contents, start=1) if not page]
    for page in blocks(contents, outline):
        writer.page()
        for level, text in page:
            if level:
                writer.heading(level, text)
            else:
                writer.paragraph(text)
    without = f"no text on its {len(pages)} pages: scanned?"
    yield writer.parsed(file, content, title, notes=pages_without_text(bare), without=without)


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if raw.FPDF_GetLastError() == raw.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise NotThisFormat("encrypted: it opens with a password alone") from error
        raise NotThisFormat(f"a damaged PDF: {error}") from error


def _page_lines(opened: pypdfium2.PdfDocument, index: int) -> list[Line]:
    """Return the lines of a page that are not blank; a page that cannot be read has none."""
    try:
        page = opened[index]
    except pypdfium2.PdfiumError:
        return []
    text = page.get_textpage()
    try:
        return lines_of(text.get_text_range(), lambda at: float(raw.FPDFText_GetFontSize(text, at)))
    finally:
        text.close()
        page.close()


def _title(opened: pypdfium2.PdfDocument) -> str:
    title = one_line(opened.get_metadata_value("Title").replace("\0", ""))
    return "" if any(words in title.lower() for words in NO_TITLE) else title


def _outline(opened: pypdfium2.PdfDocument) -> Outline:
    """Return the levels of the titles that the table of contents names, by the page that each is on."""
    outline: Outline = {}
    for count, entry in enumerate(opened.get_toc()):
        target = entry.get_dest()
        index = None if target is None else target.get_index()
        if count == MOST_CONTENTS:
            break
        if index is not None:
            outline.setdefault(index, {})[one_line(entry.get_title()).casefold()] = entry.level + 1
    return outline
