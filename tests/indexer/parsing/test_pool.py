"""Files are read in worker processes: one that hangs, crashes or bursts is reported, and no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexer.parsing.limits import MEBIBYTE, ParsingLimits
from indexer.parsing.pool import ParserPool
from indexer.parsing.source import Parsed, SourceFile, Unreadable
from tests.indexer.parsing.hostile import write_sitecustomize
from tests.indexer.parsing.samples import make_pdf, replaced, xlsx


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Let workers do what the first line of a Markdown file says."""
    monkeypatch.setenv("PYTHONPATH", str(write_sitecustomize(tmp_path / "hostile")))


def write(folder: Path, contents: dict[str, str]) -> list[SourceFile]:
    for name, content in contents.items():
        (folder / name).write_text(content)
    return [SourceFile(folder / name, name) for name in contents]


def read(files, limits: ParsingLimits | None = None, workers: int = 1) -> dict[str, list[Parsed | Unreadable]]:
    with ParserPool(limits, workers) as pool:
        return {file.id: list(results) for file, results in pool.parse(files)}


def summary(found: dict[str, list[Parsed | Unreadable]]) -> dict[str, list[str]]:
    return {
        id_: [one.document.text if isinstance(one, Parsed) else f"! {one.reason}" for one in results]
        for id_, results in found.items()
    }


@pytest.mark.parametrize("workers", [1, 3])
def test_files_come_back_in_the_order_given(tmp_path, workers):
    contents = {f"{number}.md": f"text {number} " + "x" * (number % 7) * 40_000 for number in range(150)}
    files = write(tmp_path, contents)
    found = read(files, workers=workers)
    assert list(found) == [file.id for file in files]
    assert all(results[0].document.text == contents[id_] for id_, results in found.items())


def test_no_files_no_results():
    assert read([]) == {}


def test_a_file_may_come_as_bytes(tmp_path):
    file = SourceFile(tmp_path / "there is none.md", "notes.md", b"# Notes\n\nFrom elsewhere.")
    (parsed,) = read([file])["notes.md"]
    assert (parsed.document.id, parsed.document.title) == ("notes.md", "Notes")


def test_a_file_that_is_gone_and_one_of_an_unknown_format_are_reported(tmp_path):
    files = [SourceFile(tmp_path / "gone.md", "gone.md"), SourceFile(tmp_path / "x.exe", "x.exe")]
    found = summary(read(files))
    assert found == {
        "gone.md": ["! cannot be read: No such file or directory"],
        "x.exe": ["! .exe: not a format that is read"],
    }


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("hang", "takes longer than 3 s"),
        ("spin", "takes longer than 3 s"),
        ("crash", "the parser crashed (SIGSEGV)"),
        ("exit", "the parser crashed (exit code 7)"),
        ("burst", "takes more than 2048 MiB of memory"),
    ],
)
def test_a_file_that_ends_its_worker_is_reported_and_the_others_are_read(hostile, tmp_path, command, reason):
    files = write(tmp_path, {"a.md": "one", "bad.md": command, "c.md": "three", "d.md": "four"})
    found = summary(read(files, ParsingLimits(seconds=3.0)))
    assert reason in found.pop("bad.md")[0]
    assert found == {"a.md": ["one"], "c.md": ["three"], "d.md": ["four"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"x" * (160 * MEBIBYTE)),
        ("a.html", b"<p>text</p>" * 1_500_000),
        ("a.csv", b"a,b,c\n" * 2_000_000),
        ("a.json", b"[" + b"[1]," * 3_000_000 + b"1]"),
        ("a.xlsx", lambda: spread_sheet(40_000)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_needs_more_memory_than_it_may_take_is_reported_saying_so(tmp_path, name, content):
    made = content() if callable(content) else content
    files = [SourceFile(tmp_path / name, name, made), SourceFile(tmp_path / "b.md", "b.md", b"two")]
    limits = ParsingLimits(memory_bytes=64 * MEBIBYTE, inflated_ratio=1 << 20)
    found = summary(read(files, limits))
    assert found == {name: ["! takes more than 64 MiB of memory to read (OPENBOOK_PARSER_MEMORY_MIB)"], "b.md": ["two"]}


def spread_sheet(rows: int) -> bytes:
    cells = b'<row><c t="inlineStr"><is><t>' + b"word " * 400 + b"</t></is></c></row>"
    name = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = b'<worksheet xmlns="' + name + b'"><sheetData>' + cells * rows + b"</sheetData></worksheet>"
    return replaced(xlsx(), {"xl/worksheets/sheet1.xml": sheet})


def test_memory_that_libraries_leak_is_not_held_against_the_next_file(hostile, tmp_path):
    files = write(tmp_path, {f"{number}.md": "leak" for number in range(12)})
    limits = ParsingLimits(memory_bytes=96 * MEBIBYTE, worker_growth_bytes=1 << 40)
    assert set(map(tuple, summary(read(files, limits)).values())) == {("leak",)}


def test_a_file_larger_than_the_limit_is_reported(tmp_path):
    files = write(tmp_path, {"big.txt": "x" * (2 * MEBIBYTE), "small.txt": "x"})
    found = summary(read(files, ParsingLimits(input_bytes=MEBIBYTE)))
    assert found == {"big.txt": ["! larger than 1 MiB (OPENBOOK_PARSER_FILE_MIB)"], "small.txt": ["x"]}


def test_a_long_file_of_many_documents_is_handed_over_in_parts(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "{number} {"x" * 1000}"}}\n' for number in range(20_000)))
    with ParserPool() as pool:
        parsed = pool.parse([SourceFile(tmp_path / "a.jsonl", "a.jsonl")])
        numbers = [int(one.document.text.split()[0]) for _, results in parsed for one in results]
    assert numbers == list(range(20_000))


def test_results_that_the_caller_leaves_are_passed_over(tmp_path):
    files = write(tmp_path, {"a.jsonl": '{"text": "1"}\n{"text": "2"}\n', "b.md": "three"})
    with ParserPool() as pool:
        assert [file.id for file, _ in pool.parse(files)] == ["a.jsonl", "b.md"]
        assert [next(results).document.text for _, results in pool.parse(files)] == ["1", "three"]


def test_a_pool_that_is_left_in_the_middle_ends_at_once(hostile, tmp_path):
    files = write(tmp_path, {"a.txt": "one", "b.md": "hang", "c.txt": "x" * MEBIBYTE, "d.md": "hang"})
    started = time.monotonic()
    with ParserPool(workers=2) as pool:
        next(iter(pool.parse(files[2:])))
    assert time.monotonic() - started < 10


def test_the_files_are_taken_in_the_thread_of_the_caller_and_not_all_at_once(tmp_path):
    import threading

    (tmp_path / "a.txt").write_text("x" * MEBIBYTE)
    taken = []

    def files():
        for number in range(1000):
            taken.append(threading.current_thread())
            yield SourceFile(tmp_path / "a.txt", f"{number}")

    with ParserPool(workers=2) as pool:
        next(iter(pool.parse(files())))
    assert set(taken) == {threading.current_thread()}
    assert len(taken) < 20


def workers_of(parent: int) -> set[int]:
    """Return the children of a process that read files; a run of all tests has others, such as a server."""
    listed = Path(f"/proc/{parent}/task").glob("*/children")
    children = {int(child) for children in listed for child in children.read_text().split()}
    return {child for child in children if b"indexer.parsing.worker" in command_of(child)}


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_worn_worker_is_replaced(hostile, tmp_path):
    seen: set[int] = set()
    files = write(tmp_path, {f"{number}.md": "leak" + "\n" * (1 << 18) for number in range(9)})
    with ParserPool(ParsingLimits(files_per_worker=3)) as pool:
        for _, results in pool.parse(files):
            seen |= workers_of(os.getpid())
            assert isinstance(next(results), Parsed)
    assert len(seen) >= 2
    assert workers_of(os.getpid()) & seen == set()


def test_a_worker_stays_as_large_as_it_is_over_200_readings_of_one_pdf(tmp_path):
    pages = [[f"Line {line} of page {page} is on the harbour." for line in range(12)] for page in range(20)]
    content = make_pdf(pages)
    files = [SourceFile(tmp_path / "a.pdf", f"{number}.pdf", content) for number in range(200)]
    sizes = []
    with ParserPool(ParsingLimits(files_per_worker=1000)) as pool:
        for file, results in pool.parse(files):
            assert len(next(results).pages) == 20
            if file.id in {"50.pdf", "199.pdf"}:
                (worker,) = workers_of(os.getpid())
                sizes.append(int(Path(f"/proc/{worker}/statm").read_text().split()[1]))
    assert sizes[1] < sizes[0] * 1.1


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_workers_end_with_a_parent_that_is_killed(hostile, tmp_path):
    write(tmp_path, {"a.md": "spin"})
    program = (
        "from pathlib import Path\n"
        "from indexer.parsing.pool import ParserPool\n"
        "from indexer.parsing.source import SourceFile\n"
        "print('started', flush=True)\n"
        f"with ParserPool() as pool: list(pool.parse([SourceFile(Path({str(tmp_path / 'a.md')!r}), 'a.md')]))\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ["PYTHONPATH"]]),
    }
    parent = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout.readline() == b"started\n"
        deadline = time.monotonic() + 20
        while not (workers := workers_of(parent.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers
        time.sleep(0.5)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 10
    while any(is_running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
