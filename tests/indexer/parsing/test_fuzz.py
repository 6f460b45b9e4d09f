"""Files that are damaged in any way are read or reported: none ends the pool, and none is passed over in silence."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.parsing import PARSERS
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.pool import ParserPool
from indexer.parsing.source import Parsed, SourceFile
from tests.indexer.parsing.samples import SAMPLES, replaced
from tests.indexer.parsing.test_formats import check_offsets

ZIPPED = {".docx", ".pptx", ".xlsx", ".epub"}
SURPRISES = ("crashed", "longer than", "the parser failed")
FAST, SLOW = 8, 180
"""Files for each format: 96, and 2,160."""


def damaged(content: bytes, random_: random.Random) -> bytes:
    """Return a file cut off, with bits flipped, with some of it missing or repeated, or noise."""
    data = bytearray(content)
    at = random_.randrange(len(data))
    span = random_.randrange(1, 64)
    match random_.randrange(6):
        case 0:
            return bytes(data[:at])
        case 1:
            for _ in range(random_.randrange(1, 32)):
                data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
        case 2:
            del data[at : at + span]
        case 3:
            data[at:at] = data[at : at + span] * random_.randrange(1, 50)
        case 4:
            data[at:at] = random_.randbytes(span)
        case 5:
            return random_.randbytes(random_.randrange(2048))
    return bytes(data)


def damaged_inside(archive: bytes, random_: random.Random) -> bytes:
    """Return a zip file that is in order, with an entry that is not."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        name = random_.choice([name for name in opened.namelist() if opened.read(name)])
        content = opened.read(name)
    return replaced(archive, {name: damaged(content, random_)})


def damaged_files(count: int, seed: int) -> Iterator[SourceFile]:
    random_ = random.Random(seed)
    for suffix, make in SAMPLES.items():
        valid = make()
        for number in range(count):
            name = f"{number}{suffix}"
            damage = damaged_inside if suffix in ZIPPED and number % 4 else damaged
            yield SourceFile(Path(name), name, damage(valid, random_))


def read_damaged(count: int, seed: int) -> list[str]:
    """Read damaged files, and return why those that are not read are not."""
    reasons: list[str] = []
    files = 0
    with ParserPool(ParsingLimits(seconds=20.0)) as pool:
        for file, results in pool.parse(damaged_files(count, seed)):
            found = list(results)
            files += 1
            # Of a file of many documents nothing may be left, where all of it is blank.
            assert found or file.suffix in {".jsonl", ".json", ".csv"}, (file.id, file.content)
            for one in found:
                if isinstance(one, Parsed):
                    check_offsets(one)
                else:
                    assert one.reason
                    reasons.append(one.reason)
    assert files == count * len(SAMPLES)
    return reasons


def test_damaged_files_of_every_format_are_read_or_reported():
    reasons = read_damaged(FAST, seed=0)
    assert not [reason for reason in reasons if any(words in reason for words in SURPRISES)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 3))
def test_thousands_of_damaged_files_are_read_or_reported(seed):
    reasons = read_damaged(SLOW, seed)
    assert not [reason for reason in reasons if any(words in reason for words in SURPRISES)]


@pytest.mark.parametrize("suffix", PARSERS)
def test_random_bytes_are_a_document_of_no_format(suffix):
    random_ = random.Random(suffix)
    files = [SourceFile(Path(f"a{suffix}"), f"a{suffix}", random_.randbytes(1024)) for _ in range(20)]
    with ParserPool() as pool:
        assert not [one for _, results in pool.parse(files) for one in results if isinstance(one, Parsed)]
