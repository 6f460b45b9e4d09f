"""A program that kills real commands at failpoints: `python -m tests.indexer.failing FOLDER EMBEDDER CASE...`.

A case is COMMAND=FAILPOINT or COMMAND=FAILPOINT@COUNT. The embedder is loaded once; each command runs in a fork of this
process. Prints one JSON line for each case: what was found after the kill, and after the same command ran again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from contextlib import closing
from pathlib import Path

from indexer import failpoints
from indexer.doctor.examination import examine
from indexer.embedding import Embedder, embedders
from indexer.index import Index
from indexer.ingesting import ingest as ingest_module
from indexer.ingesting.ingest import ingest
from indexer.maintenance import rebuilding
from indexer.maintenance.backup import backup
from indexer.settings import IndexerSettings
from openbook import cli

OLD = {f"d{number:02}.md": f"text of number {number} for the third time. " * 6 for number in range(10)}
NEW = {
    **{f"d{number:02}.md": f"text of number {number}, changed. " * 6 for number in range(5)},
    **{id_: OLD[id_] for id_ in ("d05.md", "d06.md")},
    **{f"d{number:02}.md": f"text of number {number}, added. " * 6 for number in range(10, 20)},
}


def main(folder: Path, model: str, cases: list[str]) -> None:
    embedder = Embedder.load(model, threads=1)
    embedders.Embedder.load = lambda *_: embedder  # type: ignore[method-assign]
    ingest_module.GROUP_DOCUMENTS = 3
    rebuilding.GROUP_CHUNKS = rebuilding.GROUP_VERSIONS = 5
    os.environ |= {"OPENBOOK_EMBEDDER": model, "OPENBOOK_CHUNK_TOKENS": "40", "OPENBOOK_PARSER_WORKERS": "0"}
    settings = IndexerSettings()
    documents = folder / "documents"
    for text in ("first", "second", "third"):
        write(documents, {id_: old.replace("third", text) for id_, old in OLD.items()})
        ingest(folder / "filled", [documents], "default", settings=settings)
    backup(folder / "filled", folder / "backup")
    for number, case in enumerate(cases):
        command, _, place = case.partition("=")
        store = folder / f"store{number}"
        if command != "first":
            shutil.copytree(folder / "filled", store)
        write(documents, NEW if command in ("first", "ingest") else OLD)
        run = {
            "first": ["ingest", str(documents)],
            "ingest": ["ingest", str(documents), "--delete-missing"],
            "vacuum": ["vacuum", "--history"],
            "rebuild": ["rebuild"],
            "embed": ["rebuild", "--embed-only"],
            "backup": ["backup", str(folder / f"copy{number}")],
            "restore": ["restore", str(folder / "backup")],
            "damaged": ["restore", str(folder / "backup")],
        }[command]
        if command == "damaged":
            damage(store)
        said = {"case": case, "killed": forked([*run, "--store", str(store)], place), **looked(store, settings)}
        said["again"] = {"code": forked([*run, "--store", str(store)], ""), **looked(store, settings)}
        sys.stdout.write(json.dumps(said) + "\n")
        # A fork would write again what is still buffered.
        sys.stdout.flush()
        shutil.rmtree(store)


def write(folder: Path, texts: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for id_, text in texts.items():
        (folder / id_).write_text(text)


def damage(store: Path) -> None:
    (store / "store.db").write_bytes(b"no database" * 1000)
    for extra in ("-wal", "-shm"):
        (store / f"store.db{extra}").unlink(missing_ok=True)


def forked(arguments: list[str], place: str) -> int:
    """Run a command in a fork; return its exit code, or the negative number of the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if place:
                name, _, count = place.partition("@")
                failpoints.asked[name] = ("kill", int(count or 1))
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                code = cli(arguments, standalone_mode=False) or 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def looked(store: Path, settings: IndexerSettings) -> dict[str, object]:
    """Open the store, examine it, and read and search everything that is in it."""
    if not store.exists():
        return {"opened": False, "wrong": [], "texts": {}, "lost": [], "found": True}
    try:
        index = Index.open(store, settings=settings)
    except Exception as error:
        return {"opened": False, "wrong": [str(error)], "texts": {}, "lost": [], "found": False}
    wrong = [f"{result.level} {result.check}: {result.detail}" for result in examine(store) if result.level != "pass"]
    with closing(index):
        if not index.collections():
            return {"opened": True, "wrong": wrong, "texts": {}, "lost": [], "found": True}
        texts = {row.id: index.document("default", row.id) for row in index.documents("default", limit=1000)}
        chunks = sorted(chunk.id for detail in texts.values() for chunk in detail.chunks)
        hits = index.search("default", "text", 1000).hits
        lost = [id_ for id_, detail in texts.items() if not detail.chunks]
        found = sorted(hit.chunk_id for hit in hits) == chunks and all(
            texts[hit.document_id].text[hit.start : hit.end] == hit.text for hit in hits
        )
        return {
            "opened": True,
            "wrong": wrong,
            "texts": {id_: detail.text for id_, detail in texts.items()},
            "lost": lost,
            "found": found,
        }


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
