"""EPUB: the chapters in the order in which they are read, each one a page of HTML."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from lxml import etree

from indexer.parsing.encodings import decode
from indexer.parsing.html import declared_encoding, parse_tree
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.markup import write_markup
from indexer.parsing.source import NotThisFormat, Parsed, SourceFile, Unparsable, as_damage
from indexer.parsing.writing import TextWriter, one_line
from indexer.parsing.zipped import open_zip

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
DC = "{http://purl.org/dc/elements/1.1/}"
PAGES = frozenset({"application/xhtml+xml", "text/html", "application/html"})


def parse(file: SourceFile, limits: ParsingLimits) -> Iterator[Parsed]:
    """Yield the one document of an EPUB file."""
    content, archive = open_zip(file, limits, CONTAINER, "an EPUB book")
    with archive:
        where = _package_path(archive)
        package = _xml(archive, where)
        writer = TextWriter()
        notes = [note for name in _chapters(package, where) if (note := _write_chapter(archive, name, writer))]
    title = package.find(f".//{DC}title")
    without = "no text in the book"
    if ENCRYPTION in archive.NameToInfo and writer.empty:
        without += ": it is encrypted"
    yield writer.parsed(file, content, "" if title is None else title.text or "", notes=notes, without=without)


def _package_path(archive: zipfile.ZipFile) -> str:
    """Return the name of the entry that lists what the book is made of."""
    found = _xml(archive, CONTAINER).find(".//{*}rootfile[@full-path]")
    if found is None:
        raise NotThisFormat(f"an EPUB book whose {CONTAINER} names no package")
    return str(found.get("full-path"))


def _chapters(package: etree._Element, where: str) -> Iterator[str]:
    """Yield the names of the entries to be read, in their order; the table of contents is none of them."""
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in PAGES or "nav" in item.get("properties", "").split():
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(where), unquote(item.get("href", ""))))


def _write_chapter(archive: zipfile.ZipFile, name: str, writer: TextWriter) -> str:
    """Write a chapter, and return why it cannot be read, or nothing."""
    if name not in archive.NameToInfo:
        return f"the chapter {name!r} is missing"
    data = archive.read(name)
    try:
        root = parse_tree(decode(data, declared_encoding(data))[0])
    except Unparsable as error:
        return f"the chapter {one_line(name)!r} is left out: {error}"
    if root is not None:
        write_markup(root, writer)
    return ""


def _xml(archive: zipfile.ZipFile, name: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    with as_damage("EPUB book"):
        return etree.fromstring(archive.read(name), parser)
