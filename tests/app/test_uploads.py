"""What is uploaded becomes searchable, and no name that a sender chooses becomes a path."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.library import Library, open_library
from tests.conftest import openbook_environment
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(tmp_path_factory.mktemp("uploads"), max_upload_mib=1) as opened:
        yield opened


def test_an_uploaded_text_is_found_once_its_job_is_done(library: Library) -> None:
    job = library.upload(
        "harbour/tides.md",
        "The tide tables are kept by Wilhelmina Oster.",
        title="Tides",
        metadata={"team": "harbour"},
        effective="2026-01-01",
        authority=3,
        supersedes="ferry.md",
    )
    assert (job["status"], [record["status"] for record in job["records"]]) == ("done", ["added"])
    assert any("Wilhelmina Oster" in text for text in library.found("Wilhelmina Oster"))
    shown = library.client.get("/v1/documents/harbour/tides.md").json()
    assert {name: shown[name] for name in ("title", "metadata", "effective", "authority", "supersedes")} == {
        "title": "Tides",
        "metadata": {"team": "harbour"},
        "effective": "2026-01-01",
        "authority": 3,
        "supersedes": "ferry.md",
    }
    assert shown["source"] == "upload://harbour/tides.md"


def test_a_known_id_with_another_text_becomes_another_version(library: Library) -> None:
    library.upload("bell.md", "The bell of Saltmere was cast by Jorunn Ask.")
    job = library.upload("bell.md", "The bell of Saltmere was cast by Pelle Quist.")
    again = library.upload("bell.md", "The bell of Saltmere was cast by Pelle Quist.")
    assert [one["records"][0]["status"] for one in (job, again)] == ["updated", "unchanged"]
    versions = library.client.get("/v1/documents/bell.md/versions").json()["versions"]
    assert [version["current"] for version in versions] == [True, False]
    old = library.client.get(f"/v1/documents/bell.md?version={versions[1]['version']}").json()
    assert "Jorunn Ask" in old["text"]
    found = library.found("Who cast the bell of Saltmere? Jorunn Ask, Pelle Quist")
    assert any("Pelle Quist" in text for text in found)
    assert not any("Jorunn Ask" in text for text in found)


def test_a_job_says_of_each_file_what_openbook_ingest_says(library: Library, tmp_path: Path) -> None:
    files = {
        "good.md": b"# Wells\n\nThe well of Saltmere is forty ells deep.\n",
        "broken.pdf": b"%PDF-1.7 junk",
        "lines.jsonl": b'{"id": "one", "text": "The mill grinds rye."}\n{bad\n{"id": "two", "text": "The kiln."}\n',
        "empty.txt": b"",
    }
    (tmp_path / "sent").mkdir()
    for name, content in files.items():
        (tmp_path / "sent" / name).write_bytes(content)
    job = library.upload_files(files, collection="compared")
    command = [sys.executable, "-m", "openbook", "ingest", "--json", *(f"sent/{name}" for name in files)]
    environment = {**openbook_environment(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    *records, last = map(json.loads, told.stdout.splitlines())
    comparable = [{**record, "path": f"upload://{Path(record['path']).name}", "seconds": 0} for record in records]
    assert [record["path"] for record in job["records"]] == [f"upload://{name}" for name in files]
    assert by_path([{**record, "seconds": 0} for record in job["records"]]) == by_path(comparable)
    same = {"collection": "compared", "seconds": 0}
    assert {**job["summary"], **same} == {**last["summary"], **same}
    assert (job["status"], job["error"]) == ("done", None)


def by_path(records: list[dict]) -> list[dict]:
    return sorted(records, key=lambda record: record["path"])


def test_a_job_without_one_good_document_has_failed(library: Library) -> None:
    job = library.upload_files({"broken.pdf": b"%PDF-1.7 junk"})
    assert (job["status"], job["records"][0]["status"]) == ("failed", "failed")
    assert "records" in job["error"]


def test_what_holds_for_a_form_holds_for_documents_that_do_not_say_otherwise(library: Library) -> None:
    said = {"authority": "2", "metadata": '{"team": "mill"}', "collection": "forms"}
    library.upload_files(
        {"a.md": b"Flour is sold on Mondays.", "b.md": b"---\nauthority: 7\n---\nRye is sown."}, **said
    )
    a, b = (library.client.get(f"/v1/documents/{name}?collection=forms").json() for name in ("a.md", "b.md"))
    assert [(each["authority"], each["metadata"]) for each in (a, b)] == [(2, {"team": "mill"}), (7, {"team": "mill"})]


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("/etc/cron.d/evil.txt", "evil.txt"),
        ("C:\\Windows\\System32\\drivers.txt", "drivers.txt"),
        ("..\\..\\up.md", "up.md"),
        ("CON.md", "CON.md"),
        ("a;b$(id)`c`.md", "a;b$(id)`c`.md"),
    ],
)
def test_the_name_of_a_file_is_a_label_and_never_a_path(library: Library, name: str, id_: str) -> None:
    before = outside(library.store)
    job = library.upload_files({name: f"The name {id_} is only a name.".encode()}, collection="names")
    assert (job["files"], job["records"][0]["id"]) == ([id_], id_)
    assert outside(library.store) == before
    # The job is done a moment before its files are gone.
    wait_for(lambda: not list((library.store / "jobs" / "files").iterdir()))


def outside(store: Path) -> list[Path]:
    """Return every file in and around a store, but for those that a store is made of."""
    ours = (store / "jobs", store / "vectors")
    kept = [path for path in store.parent.rglob("*") if not any(path.is_relative_to(folder) for folder in ours)]
    return sorted(path for path in kept if path.parent != store)


@pytest.mark.parametrize("name", ["a\x00b.md", "a\x1bb.md", "..", "." * 3 + "/", "x" * 300 + ".md"])
def test_a_name_that_cannot_be_shown_is_refused(library: Library, name: str) -> None:
    content = (
        b"--b\r\ncontent-disposition: form-data; name=file; filename*=utf-8''"
        + quoted(name)
        + b"\r\n\r\nx\r\n--b--\r\n"
    )
    plain = (
        b'--b\r\ncontent-disposition: form-data; name="file"; filename="' + name.encode() + b'"\r\n\r\nx\r\n--b--\r\n'
    )
    for body in (content, plain):
        response = library.client.post(
            "/v1/documents", content=body, headers={"content-type": "multipart/form-data; boundary=b"}
        )
        assert response.status_code in (400, 422), response.text


def quoted(name: str) -> bytes:
    return "".join(f"%{byte:02X}" for byte in name.encode()).encode()


@pytest.mark.parametrize(
    ("name", "expected"), [("/dev/zero", "zero"), ("page.exe", "page.exe"), ("passwd", "passwd"), (".md", ".md")]
)
def test_a_file_of_a_format_that_is_not_read_is_415(library: Library, name: str, expected: str) -> None:
    response = library.client.post("/v1/documents", files={"file": (name, b"x")})
    assert (response.status_code, response.headers["content-type"]) == (415, "application/problem+json")
    assert expected in response.json()["detail"]


def test_a_body_of_another_type_is_415(library: Library) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        response = library.client.post("/v1/documents", content=b"text=x", headers={"content-type": kind})
        assert response.status_code == 415


def test_an_upload_that_is_too_large_is_413_by_its_length_and_by_counting(library: Library) -> None:
    small, large = b"x" * 1000, b"x" * (1 << 20)
    declared = library.client.post("/v1/documents", files={"file": ("large.txt", large)})
    head = b'--b\r\ncontent-disposition: form-data; name="file"; filename="large.txt"\r\n\r\n'
    pieces = iter([head, *([small] * 1100), b"\r\n--b--\r\n"])
    counted = library.client.post(
        "/v1/documents", content=pieces, headers={"content-type": "multipart/form-data; boundary=b"}
    )
    assert [declared.status_code, counted.status_code] == [413, 413]
    assert "OPENBOOK_MAX_UPLOAD_MIB" in declared.json()["detail"]
    assert library.client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        ({"id": "a.md"}, 422, "text"),
        ({"id": "a.md", "text": "x", "titel": "T"}, 422, "Did you mean 'title'?"),
        ({"id": "a.md", "text": "x", "collection": "../up"}, 422, "collection"),
        ({"id": "a\nb", "text": "x"}, 422, "printed"),
        ({"id": "a.md", "text": "x", "effective": "soon"}, 422, "effective"),
        ([], 422, "body"),
    ],
)
def test_a_text_that_is_not_what_it_should_be_is_refused_by_its_field(
    library: Library, body: object, status: int, expected: str
) -> None:
    response = library.client.post("/v1/documents", json=body)
    assert (response.status_code, expected in response.json()["detail"]) == (status, True), response.text


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b""])
def test_a_body_that_is_no_json_is_400(library: Library, content: bytes) -> None:
    response = library.client.post("/v1/documents", content=content, headers={"content-type": "application/json"})
    assert response.status_code == 400, response.text


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"files": [("file", ("a.md", b"x")), ("file", ("b/a.md", b"y"))]}, "same name"),
        ({"files": [("file", ("a.md", b"x"))], "data": {"colection": "x"}}, "Did you mean 'collection'?"),
        ({"files": [("files", ("a.md", b"x"))]}, "'file'"),
        ({"files": [("file", ("a.jsonl", b"{}"))], "data": {"id": "one"}}, "several"),
        ({"files": [("file", ("a.md", b"x"))], "data": {"metadata": "{"}}, "metadata"),
        ({"files": [("file", ("a.md", b"x"))], "data": {"authority": ["1", "2"]}}, "twice"),
    ],
)
def test_a_form_that_is_not_what_it_should_be_is_refused_by_its_field(library: Library, sent, expected) -> None:
    response = library.client.post("/v1/documents", **sent)
    assert (response.status_code, expected in response.json()["detail"]) == (422, True), response.text


def test_a_form_without_a_boundary_is_400(library: Library) -> None:
    response = library.client.post("/v1/documents", content=b"x", headers={"content-type": "multipart/form-data"})
    assert response.status_code == 400, response.text


def test_a_deleted_document_is_not_found_by_the_next_question(library: Library) -> None:
    library.upload("secret.md", "The password of the vault is marmalade.")
    assert library.found("marmalade password of the vault")
    response = library.client.delete("/v1/documents/secret.md")
    assert (response.status_code, response.json()["deleted"]) == (200, "secret.md")
    assert not any("marmalade" in text for text in library.found("marmalade password of the vault"))
    assert library.client.get("/v1/documents/secret.md").status_code == 404
    assert library.client.delete("/v1/documents/secret.md").status_code == 404


def test_an_id_with_slashes_and_one_that_ends_with_versions_can_be_addressed(library: Library) -> None:
    library.upload("notes/versions", "Notes on the versions of the chart of Saltmere.")
    assert "chart" in library.client.get("/v1/documents/notes%2Fversions").json()["text"]
    assert len(library.client.get("/v1/documents/notes%2Fversions/versions").json()["versions"]) == 1
    assert library.client.get("/v1/documents/notes/versions").status_code == 404
    assert library.client.delete("/v1/documents/notes%2Fversions").status_code == 200
