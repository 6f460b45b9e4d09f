"""The root of every error that Openbook shows to a person.

    OpenbookError                 exit code 1
    ├── UsageError                exit code 2   wrong arguments, settings or specification
    ├── CorpusError               exit code 2   a corpus that cannot be read
    ├── indexer.errors.…          see there
    ├── app.errors.…              see there
    └── experiments.errors.…      see there

Exit codes of the command line: 0 done, 1 failed or partly failed, 2 wrong use or configuration, 3 the store is
locked by another process, 4 the store is damaged, 5 the engine is out of reach or died, 130 interrupted.
"""

from __future__ import annotations


class OpenbookError(Exception):
    """An error with a message fit to be printed as it is: what went wrong, which value, what to do next."""

    exit_code = 1


class UsageError(OpenbookError):
    """The command, the settings or a specification ask for something that cannot be done."""

    exit_code = 2


class CorpusError(OpenbookError):
    """A corpus cannot be read; the message names the file and, where there is one, the line."""

    exit_code = 2
