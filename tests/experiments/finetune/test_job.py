import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingJob, TrainingSettings, read_job
from experiments.finetune.rows import read_rows, write_rows
from tests.experiments.finetune.conftest import ROWS


def test_a_job_survives_its_file(job: TrainingJob, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(job.model_dump_json())
    assert read_job(tmp_path / "job.json") == job


def test_the_same_job_is_the_same_checkpoint_wherever_its_files_lie(job: TrainingJob, tmp_path: Path) -> None:
    moved = job.model_copy(update={"base": "elsewhere", "rows": tmp_path / "r", "destination": tmp_path / "d"})
    assert moved.label == job.label
    assert job.label == f"tiny-facts@{job.version}"
    assert len(job.version) == 12


@pytest.mark.parametrize(
    "change",
    [
        {"settings": TrainingSettings(seed=1)},
        {"training_hash": "0" * 64},
        {"documents_hash": None},
        {"base_label": "tiny@2"},
        {"recipe": "another"},
    ],
)
def test_whatever_decides_the_weights_decides_the_version(job: TrainingJob, change: dict[str, object]) -> None:
    assert job.model_copy(update=change).version != job.version


def test_a_malformed_job_names_all_its_faults_at_once(job: TrainingJob, tmp_path: Path) -> None:
    content = json.loads(job.model_dump_json())
    content["settings"]["rank"] = 0
    content["nmae"] = content.pop("name")
    (tmp_path / "job.json").write_text(json.dumps(content))
    with pytest.raises(JobError) as caught:
        read_job(tmp_path / "job.json")
    for fault in ("settings.rank: Input should be greater than", "name: Field required", "nmae: Extra inputs"):
        assert fault in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_a_file_that_is_no_job_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_bytes(content)
    with pytest.raises(JobError, match=r"job\.json is malformed"):
        read_job(tmp_path / "job.json")


def test_a_missing_job_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"Cannot read the training job .*none\.json: No such file"):
        read_job(tmp_path / "none.json")


def test_written_rows_are_read_back_under_the_hash_of_their_file(tmp_path: Path) -> None:
    digest = write_rows(tmp_path / "rows.jsonl", ROWS)
    assert digest == hashlib.sha256((tmp_path / "rows.jsonl").read_bytes()).hexdigest()
    assert read_rows(tmp_path / "rows.jsonl", digest) == ROWS


@given(completion=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_survives_the_rows_file(completion: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    row = ROWS[0].model_copy(update={"completion": completion})
    assert read_rows(path, write_rows(path, [row])) == (row,)


def test_a_malformed_row_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{ROWS[0].model_dump_json()}\n{{"messages": []}}\n')
    with pytest.raises(JobError, match=r"rows\.jsonl:2: messages: .*; completion: Field required"):
        read_rows(path, "0" * 64)


def test_no_rows_and_missing_rows_are_refused(tmp_path: Path) -> None:
    digest = write_rows(tmp_path / "rows.jsonl", [])
    with pytest.raises(JobError, match="no training rows"):
        read_rows(tmp_path / "rows.jsonl", digest)
    with pytest.raises(JobError, match="Cannot read the training rows"):
        read_rows(tmp_path / "none.jsonl", digest)


def test_rows_changed_after_the_planning_are_refused(tmp_path: Path) -> None:
    digest = write_rows(tmp_path / "rows.jsonl", ROWS)
    write_rows(tmp_path / "rows.jsonl", ROWS[:2])
    with pytest.raises(JobError, match="not the file that the job was planned for"):
        read_rows(tmp_path / "rows.jsonl", digest)
