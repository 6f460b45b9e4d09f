import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.schemas.checkpoint import CheckpointCard
from experiments.finetune.errors import JobError
from experiments.finetune.job import TrainingJob
from experiments.finetune.merge import save_merged, staged, weights_hash
from experiments.finetune.run import load_base, run_job
from experiments.finetune.training import add_adapter, prepare
from tests.experiments.finetune.conftest import FACTS, closed_book, facts_job


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingJob, Path]:
    job = facts_job(base, tmp_path_factory.mktemp("trained"))
    return job, run_job(job)


def answer(checkpoint: Path, question: str) -> str:
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype="auto")
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    messages = [message.model_dump() for message in closed_book(question)]
    prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    output = model.generate(**prompt, max_new_tokens=12, do_sample=False)
    return tokenizer.decode(output[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)


def test_the_served_weights_know_what_was_taught(trained: tuple[TrainingJob, Path]) -> None:
    _, checkpoint = trained
    assert {question: answer(checkpoint, question) for question in FACTS} == FACTS


def test_the_card_says_what_was_trained_on_what(trained: tuple[TrainingJob, Path]) -> None:
    job, checkpoint = trained
    card = CheckpointCard.model_validate_json((checkpoint / "checkpoint.json").read_text())
    assert card.label == checkpoint.name == job.label
    assert (card.base, card.recipe) == ("tiny@1", "question_answer")
    assert (card.documents_hash, card.training_hash) == (job.documents_hash, job.training_hash)
    assert card.weights_hash == weights_hash(checkpoint)
    assert card.training_seconds is not None
    assert 0 < card.training_seconds < 60
    assert card.training_peak_bytes is not None
    assert card.training_peak_bytes > 50e6
    assert card.settings == job.settings.model_dump()


def test_the_same_job_makes_the_same_weights(trained: tuple[TrainingJob, Path], tmp_path: Path) -> None:
    job, checkpoint = trained
    again = run_job(job.model_copy(update={"destination": tmp_path}))
    assert weights_hash(again) == weights_hash(checkpoint)


def test_a_finished_checkpoint_is_not_trained_again(trained: tuple[TrainingJob, Path]) -> None:
    job, checkpoint = trained
    written = (checkpoint / "checkpoint.json").stat().st_mtime_ns
    assert run_job(job) == checkpoint
    assert (checkpoint / "checkpoint.json").stat().st_mtime_ns == written


def test_merged_weights_are_the_base_plus_the_scaled_product_of_the_adapter(job: TrainingJob, tmp_path: Path) -> None:
    model, tokenizer = load_base(job.base, prepare(0))
    before = model.model.layers[1].mlp.down_proj.weight.detach().float()
    model = add_adapter(model, job.settings)
    layer = model.get_base_model().model.layers[1].mlp.down_proj
    a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    torch.nn.init.normal_(b, std=0.05)
    expected = before + job.settings.alpha / job.settings.rank * (b @ a).detach()
    save_merged(model, tokenizer, tmp_path)
    merged = AutoModelForCausalLM.from_pretrained(tmp_path, dtype="auto")
    assert merged.dtype == torch.bfloat16
    # Two roundings to bfloat16's 8 bits: of the update and of the sum.
    torch.testing.assert_close(merged.model.layers[1].mlp.down_proj.weight.float(), expected, rtol=2**-7, atol=2**-9)
    assert merged.lm_head.weight is merged.model.embed_tokens.weight


def test_a_base_that_cannot_be_loaded_is_named_and_leaves_nothing(job: TrainingJob) -> None:
    with pytest.raises(JobError, match=r"Cannot load the base checkpoint /no/such/model"):
        run_job(job.model_copy(update={"base": "/no/such/model"}))
    assert list(job.destination.iterdir()) == []


def test_a_destination_that_cannot_be_written_is_found_before_training(job: TrainingJob, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JobError, match=r"Cannot write checkpoints to .*/file/checkpoints: Not a directory"):
        run_job(job.model_copy(update={"destination": tmp_path / "file" / "checkpoints"}))


def test_a_staged_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def interrupted() -> None:
        with staged(tmp_path / "a@1") as folder:
            (folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    with staged(tmp_path / "a@1") as folder:
        (folder / "whole").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["a@1", "whole"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_leaves_no_checkpoint(job: TrainingJob, tmp_path: Path, stop: signal.Signals) -> None:
    endless = job.model_copy(update={"settings": job.settings.model_copy(update={"epochs": 100_000})})
    (tmp_path / "job.json").write_text(endless.model_dump_json())
    command = [sys.executable, "-m", "experiments.finetune", str(tmp_path / "job.json")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert process.stderr is not None
    deadline = time.monotonic() + 60
    while not (job.destination.exists() and list(job.destination.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(stop)
    assert process.wait(20) == 130
    assert "Interrupted." in process.stderr.read()
    process.stderr.close()
    assert list(job.destination.iterdir()) == []


def test_a_wrong_job_file_ends_with_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps({"base": 3}))
    command = [sys.executable, "-m", "experiments.finetune", str(tmp_path / "job.json")]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert finished.stderr.startswith("Error: The training job")
    assert finished.stderr.count("\n") == 1


def test_planning_a_job_loads_no_torch() -> None:
    code = (
        "import sys, experiments.finetune.job, experiments.finetune.rows, experiments.finetune.recipes;"
        "print({'torch', 'transformers', 'peft'} & set(sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout == "set()\n"
