"""Places where a test makes the process die, fail or wait: `OPENBOOK_FAILPOINTS=put.before_commit:kill`.

Several are set with commas between; an action is `kill` (SIGKILL to this very process, the default), `error` (an
exception) or `sleep` (half a second). `name:kill@3` acts at the third passage. Unset, a failpoint costs the look-up of
an empty dictionary.
"""

from __future__ import annotations

import os
import signal
import time

from corpus.errors import OpenbookError, UsageError

VARIABLE = "OPENBOOK_FAILPOINTS"
SLEEP_SECONDS = 0.5

NAMES = (
    "collection.before_commit",
    "put.begun",
    "put.half",
    "put.before_commit",
    "put.committed",
    "delete.before_commit",
    "delete.committed",
    "files.before_commit",
    "publish.begun",
    "generation.folder_made",
    "generation.index_written",
    "generation.manifest_written",
    "generation.before_rename",
    "generation.renamed",
    "point_to.before_commit",
    "point_to.committed",
    "drop.begun",
    "drop.half",
    "drop.done",
    "rebuild.staged",
    "rebuild.before_swap",
    "rebuild.swapped_half",
    "rebuild.before_commit",
    "rebuild.committed",
    "vacuum.history_dropped",
    "vacuum.published",
    "vacuum.generations_dropped",
    "vacuum.lexical_merged",
    "vacuum.compacted",
    "backup.database_copied",
    "backup.before_rename",
    "restore.checked",
    "restore.safety_copy_made",
    "restore.half_moved",
    "restore.published",
    "restore.before_swap",
    "restore.swapped",
)
ACTIONS = ("kill", "error", "sleep")


class FailpointReached(OpenbookError):
    """A test asked for an error here."""


def parse(text: str) -> dict[str, tuple[str, int]]:
    """Return what `OPENBOOK_FAILPOINTS` asks for: name to (action, how many passages until it acts).

    Raises:
        UsageError: there is no such failpoint or action.
    """
    asked: dict[str, tuple[str, int]] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, rest = entry.partition(":")
        action, _, passages = (rest or "kill").partition("@")
        if name not in NAMES or action not in ACTIONS or not (passages or "1").isdecimal():
            raise UsageError(
                f"{VARIABLE} asks for {entry!r}. An entry is NAME:ACTION or NAME:ACTION@COUNT with one of the actions "
                f"{', '.join(ACTIONS)} and one of the names {', '.join(NAMES)}."
            )
        asked[name] = (action, int(passages or 1))
    return asked


asked = parse(os.environ.get(VARIABLE, ""))
"""What is asked for now. Tests within a process change it."""


def failpoint(name: str) -> None:
    """Do what is asked for at the failpoint `name`: nothing, unless a test set it."""
    if not asked:
        return
    action, passages = asked.get(name, ("", 0))
    if not action:
        return
    if passages > 1:
        asked[name] = (action, passages - 1)
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "sleep":
        time.sleep(SLEEP_SECONDS)
    if action == "error":
        raise FailpointReached(f"The failpoint {name} was reached.")
