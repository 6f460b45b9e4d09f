"""Zip files that hold more than they seem to are refused before anything is made of them."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from indexer.parsing.limits import MEBIBYTE, ParsingLimits
from tests.indexer.parsing import samples
from tests.indexer.parsing.samples import refusal, replaced


def bomb(size: int = 300 * MEBIBYTE) -> bytes:
    return replaced(samples.docx(), {"word/document.xml": b"A" * size})


def test_a_word_document_of_300_megabytes_in_300_kilobytes_is_refused():
    content = bomb()
    assert len(content) < 500_000
    assert "holds more than 200 times its packed size" in refusal("a.docx", content)


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx", ".epub"])
def test_any_entry_counts_whether_it_is_read_or_not(suffix):
    content = replaced(samples.SAMPLES[suffix](), {"media/picture.bin": b"\0" * (20 * MEBIBYTE)})
    assert "'media/picture.bin'" in refusal(f"a{suffix}", content)


def test_all_entries_count_together():
    entries = {f"{number}.bin": bytes(range(256)) * 4096 for number in range(10)}
    content = replaced(samples.docx(), entries)
    limits = ParsingLimits(inflated_bytes=8 * MEBIBYTE, inflated_ratio=1 << 30)
    assert "more than 8 MiB when it is inflated" in refusal("a.docx", content, limits)


def test_a_zip_file_of_too_many_entries_is_refused():
    content = replaced(samples.docx(), {f"{number}": b"" for number in range(200)})
    assert "entries, more than the 100" in refusal("a.docx", content, ParsingLimits(entries=100))


def test_sizes_that_are_declared_are_not_believed():
    content = bytearray(bomb(30 * MEBIBYTE))
    # The size of the entry in the central directory and in front of its data: one kilobyte.
    real, lie = struct.pack("<I", 30 * MEBIBYTE), struct.pack("<I", 1024)
    assert content.count(real) >= 2
    reason = refusal("a.docx", bytes(content.replace(real, lie)))
    assert "damaged" in reason or "times its packed size" in reason


def test_a_checksum_that_is_wrong_is_damage():
    content = samples.docx()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        checksum = struct.pack("<I", archive.getinfo("word/document.xml").CRC)
    assert "damaged" in refusal("a.docx", content.replace(checksum, b"\1\2\3\4"))
