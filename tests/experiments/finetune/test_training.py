import math

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from experiments.finetune.encoding import encode
from experiments.finetune.errors import TrainingDiverged
from experiments.finetune.job import TrainingJob, TrainingSettings
from experiments.finetune.packing import pack, plan
from experiments.finetune.run import load_base
from experiments.finetune.training import add_adapter, answer_loss, learning_rate, prepare, train
from tests.experiments.finetune.conftest import ROWS


def adapted(job: TrainingJob):
    model, tokenizer = load_base(job.base, prepare(job.settings.seed))
    return add_adapter(model, job.settings), encode(ROWS, tokenizer, 128)


@pytest.fixture(params=[True, False], ids=["with units for bfloat16", "without"])
def units(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.finetune.training.has_bfloat16_units", lambda: request.param)


def test_the_loss_is_the_cross_entropy_over_all_logits_with_the_prompt_masked_out(base) -> None:
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="sdpa").eval()
    rows = encode(ROWS, AutoTokenizer.from_pretrained(base), 128)
    total, count = 0.0, 0
    with torch.no_grad():
        for row in rows:
            tokens = torch.tensor([row.prompt + row.completion])
            labels = torch.tensor([(-100,) * len(row.prompt) + row.completion])
            total += model(input_ids=tokens, labels=labels).loss.item() * len(row.completion)
            count += len(row.completion)
        assert answer_loss(model, pack(rows)).item() == pytest.approx(total / count, rel=1e-5)


def test_a_pack_gives_the_gradient_of_its_rows_taken_one_by_one(base) -> None:
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="sdpa")
    rows = encode(ROWS, AutoTokenizer.from_pretrained(base), 128)
    weight = model.model.layers[0].self_attn.k_proj.weight
    answer_loss(model, pack(rows)).backward()
    packed = weight.grad.clone()
    weight.grad = None
    tokens = sum(len(row.completion) for row in rows)
    for row in rows:
        (answer_loss(model, pack([row])) * len(row.completion) / tokens).backward()
    torch.testing.assert_close(packed, weight.grad, rtol=1e-4, atol=1e-7)


def test_only_the_adapter_is_trained_and_in_float32(job: TrainingJob) -> None:
    model, _ = adapted(job)
    trained = {name: weight.dtype for name, weight in model.named_parameters() if weight.requires_grad}
    assert len(trained) == 2 * 7 * 2  # A and B of seven linear layers in each of two blocks; the head has none
    assert all("lora_" in name and dtype == torch.float32 for name, dtype in trained.items())


@pytest.mark.usefixtures("units")
def test_the_loss_falls(job: TrainingJob) -> None:
    model, rows = adapted(job)
    losses = list(train(model, plan(rows, 20, 64, 0), job.settings))
    assert losses[-1] < 0.5 * losses[0]


def test_without_units_for_bfloat16_the_base_is_float32(job: TrainingJob, monkeypatch: pytest.MonkeyPatch) -> None:
    for units, dtype in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr("experiments.finetune.training.has_bfloat16_units", lambda found=units: found)
        model, _ = load_base(job.base, prepare(0))
        assert model.dtype == dtype


def test_a_loss_that_is_no_number_stops_the_training(job: TrainingJob) -> None:
    model, rows = adapted(job)
    model.get_input_embeddings().weight.data[:] = math.inf
    with pytest.raises(TrainingDiverged, match=r"step 1 of \d+ is nan.*Try a lower learning_rate than 0\.005"):
        list(train(model, plan(rows, 1, 64, 0), job.settings))


def test_the_learning_rate_rises_then_falls_to_nothing() -> None:
    settings = TrainingSettings(learning_rate=1.0, warmup_ratio=0.2)
    rates = [learning_rate(step, 10, settings) for step in range(11)]
    # Two of ten steps to warm up: 1/3, 2/3. Then (1 + cos(pi k/8)) / 2 for k = 0 … 8.
    assert rates[:2] == pytest.approx([1 / 3, 2 / 3])
    assert rates[2:] == pytest.approx([(1 + math.cos(math.pi * k / 8)) / 2 for k in range(9)])
