"""An upload to `openbook serve` is answered from, with the real vLLM and the real embedding model."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.conftest import RunningServer

pytestmark = pytest.mark.engine

COLLECTION = "uploaded"
QUESTION = {"question": "Whose windmill is it?", "collection": COLLECTION, "top_k": 1}


def test_an_uploaded_file_is_read_and_a_deleted_one_is_not(server: RunningServer) -> None:
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
        text = b"# The mill\n\nThe windmill of Saltmere belongs to Bertram Ouse.\n"
        sent = client.post("/v1/documents", files={"file": ("mill.md", text)}, data={"collection": COLLECTION})
        assert sent.status_code == 202
        location = sent.headers["location"]
        end = time.monotonic() + 120
        while (job := client.get(location).json())["status"] in ("queued", "running"):
            assert time.monotonic() < end, job
            time.sleep(0.1)
        assert job["records"][0]["status"] == "added"
        answer = client.post("/v1/answers", json=QUESTION).json()
        assert "Bertram Ouse" in answer["answer"]
        assert [passage["document_id"] for passage in answer["passages"]] == ["mill.md"]
        assert answer["index_revision"] >= job["summary"]["revision"]
        assert client.delete(f"/v1/documents/mill.md?collection={COLLECTION}").status_code == 200
        after = client.post("/v1/answers", json=QUESTION).json()
        assert (after["passages"], after["citations"]) == ([], [])
        assert "Bertram" not in after["answer"]
        assert client.delete(f"/v1/collections/{COLLECTION}").status_code == 200
