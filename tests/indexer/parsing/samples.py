"""Small valid files of every format, made here, that say the same."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from indexer.parsing.limits import ParsingLimits
from indexer.parsing.reading import parse_file
from indexer.parsing.source import Parsed, SourceFile, Unreadable

TITLE, FACT, ITEM = "Annual leave", "Everyone has thirty days of leave.", "Ask in March."
TABLE = (("Team", "Days"), ("Harbour", "31"), ("Mill", "29"))


def read_bytes(name: str, content: bytes, limits: ParsingLimits | None = None) -> list[Parsed | Unreadable]:
    return list(parse_file(SourceFile(Path(name), name, content), limits))


def only(name: str, content: bytes) -> Parsed:
    (parsed,) = read_bytes(name, content)
    assert isinstance(parsed, Parsed), parsed.reason
    return parsed


def refusal(name: str, content: bytes, limits: ParsingLimits | None = None) -> str:
    (refused,) = read_bytes(name, content, limits)
    assert isinstance(refused, Unreadable), refused.document.text
    return refused.reason


def make_pdf(pages: Sequence[Sequence[str | tuple[str, int]]], *, title: str = "") -> bytes:
    """Return a PDF with the given lines, in Helvetica of 11 points or of the size given with a line."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        drawn = ["0 0 1 rg 20 20 30 30 re f"]
        y = 780
        for line in lines:
            words, size = line if isinstance(line, tuple) else (line, 11)
            escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            drawn.append(f"BT /F1 {size} Tf 50 {y} Td ({escaped}) Tj ET")
            y -= size + 6
        stream = "\n".join(drawn)
        objects.append(f"<< /Length {len(stream.encode('latin-1'))} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    objects.append(f"<< /Title ({title}) >>")
    return _pdf_file(objects)


def _pdf_file(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def pdf() -> bytes:
    rows = ["   ".join(row) for row in TABLE]
    return make_pdf([[(TITLE, 20), FACT, f"- {ITEM}"], rows])


def docx() -> bytes:
    import docx

    document = docx.Document()
    document.add_heading(TITLE, 1)
    document.add_paragraph(FACT)
    document.add_paragraph(ITEM, style="List Bullet")
    table = document.add_table(0, 2)
    for row in TABLE:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    return _saved(document.save)


def pptx() -> bytes:
    import pptx
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = TITLE
    slide.placeholders[1].text = f"{FACT}\n{ITEM}"
    slide.notes_slide.notes_text_frame.text = "Said and not shown."
    second = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = second.shapes.add_table(3, 2, Inches(1), Inches(1), Inches(4), Inches(2)).table
    for at, row in enumerate(TABLE):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    return _saved(presentation.save)


def xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = TITLE
    for row in (*TABLE, (FACT, ITEM)):
        book.active.append(row)
    return _saved(book.save)


def html() -> bytes:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in TABLE)
    return f"<h1>{TITLE}</h1><p>{FACT}</p><ul><li>{ITEM}</li></ul><table>{rows}</table>".encode()


def epub() -> bytes:
    chapter = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{html().decode()}</body></html>'
    return make_epub({"one.xhtml": chapter.encode()})


def make_epub(chapters: dict[str, bytes], *, title: str = "A book") -> bytes:
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    entries = {"mimetype": b"application/epub+zip", "META-INF/container.xml": container.encode()}
    entries |= {"OEBPS/book.opf": package.encode()} | {f"OEBPS/{name}": data for name, data in chapters.items()}
    return make_zip(entries)


def make_zip(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def replaced(archive: bytes, changes: dict[str, bytes]) -> bytes:
    """Return a zip file with some entries replaced or added."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        entries = {name: opened.read(name) for name in opened.namelist()}
    return make_zip({**entries, **changes})


def rst() -> bytes:
    line = "======= ====="
    rows = [f"{first:8}{second}" for first, second in TABLE]
    table = "\n".join([line, rows[0], line, *rows[1:], line])
    return f"{TITLE}\n============\n\n{FACT}\n\n* {ITEM}\n\n{table}\n".encode()


def md() -> bytes:
    rows = [f"| {' | '.join(row)} |" for row in TABLE]
    return "\n".join([f"# {TITLE}\n\n{FACT}\n\n- {ITEM}\n", rows[0], "| --- | --- |", *rows[1:]]).encode()


def csv() -> bytes:
    return "\n".join(",".join(row) for row in (*TABLE, (FACT, ITEM), (TITLE, ""))).encode()


def json_() -> bytes:
    return json.dumps([{"text": md().decode(), "title": TITLE}]).encode()


def jsonl() -> bytes:
    return json.dumps({"text": md().decode(), "title": TITLE}).encode() + b"\n"


SAMPLES: dict[str, Callable[[], bytes]] = {
    ".md": md,
    ".txt": md,
    ".rst": rst,
    ".html": html,
    ".pdf": pdf,
    ".docx": docx,
    ".pptx": pptx,
    ".xlsx": xlsx,
    ".epub": epub,
    ".csv": csv,
    ".json": json_,
    ".jsonl": jsonl,
}
"""A file of every format."""


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()
