"""One file into its documents, or the reason why not, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.parsing import PARSERS
from indexer.parsing.limits import MEBIBYTE, ParsingLimits
from indexer.parsing.source import NoText, Parsed, SourceFile, Unparsable, Unreadable


def parse_file(file: SourceFile, limits: ParsingLimits | None = None) -> Iterator[Parsed | Unreadable]:
    """Read a file in this process. Whatever is wrong with it is a result, so that others are still read.

    Limits of time and memory hold in the worker processes alone (`indexer.parsing.pool`).
    """
    limits = limits or ParsingLimits()
    parser = PARSERS.get(file.suffix)
    try:
        if parser is None:
            yield Unreadable(f"{file.suffix or 'no suffix'}: not a format that is read", 0)
        else:
            yield from parser(file, limits)
    except OSError as error:
        yield Unreadable(f"cannot be read: {error.strerror or error}", 0)
    except NoText as error:
        yield Unreadable(str(error), 0, empty=True)
    except Unparsable as error:
        yield Unreadable(str(error), 0)
    except MemoryError:
        yield Unreadable(out_of_memory(limits), 0)
    except RecursionError:
        yield Unreadable("nested more deeply than can be read", 0)
    except Exception as error:
        yield Unreadable(f"the parser failed with {type(error).__name__}: {error}", 0)


def out_of_memory(limits: ParsingLimits) -> str:
    """Return why a file that took too much memory is not read."""
    return f"takes more than {limits.memory_bytes // MEBIBYTE} MiB of memory to read (OPENBOOK_PARSER_MEMORY_MIB)"
