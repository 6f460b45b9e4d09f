from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.base_checkpoint import LABEL
from app.checkpoints import Model, list_checkpoints, resolve
from app.errors import CheckpointDamaged, ModelNotFound
from app.schemas.checkpoint import CheckpointCard


def add_checkpoint(registry: Path, name: str, version: str = "1") -> Path:
    folder = registry / f"{name}@{version}"
    folder.mkdir(parents=True)
    card = CheckpointCard(name=name, version=version, created=datetime(2026, 1, 1, tzinfo=UTC), weights_hash="0" * 64)
    (folder / "checkpoint.json").write_text(card.model_dump_json())
    (folder / "config.json").write_text("{}")
    return folder


def test_checkpoints_are_listed_by_label_and_half_written_ones_are_not(tmp_path: Path) -> None:
    add_checkpoint(tmp_path, "b")
    add_checkpoint(tmp_path, "a")
    add_checkpoint(tmp_path, "c").rename(tmp_path / ".partial-c@1")
    (tmp_path / "d@1").mkdir()
    assert [checkpoint.card.label for checkpoint in list_checkpoints(tmp_path)] == ["a@1", "b@1"]
    assert list_checkpoints(tmp_path / "nowhere") == ()


def test_a_model_is_a_label_else_a_folder_else_a_hugging_face_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = add_checkpoint(tmp_path / "registry", "tuned", "2")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    registry = tmp_path / "registry"
    assert resolve("tuned@2", registry) == Model("tuned@2", str(folder))
    assert resolve(str(folder), tmp_path / "other") == Model("tuned@2", str(folder))
    assert resolve("plain", registry) == Model("plain", str(plain))
    assert resolve("owner/model-1B", registry) == Model("owner/model-1B", "owner/model-1B")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("tuned@3", "Did you mean 'tuned@2'"), ("./nowhere", "no folder that path"), ("empty", "config.json")],
)
def test_a_model_that_is_nowhere_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str, expected: str
) -> None:
    add_checkpoint(tmp_path / "registry", "tuned", "2")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelNotFound, match=expected):
        resolve(wanted, tmp_path / "registry")


def test_a_damaged_card_is_named(tmp_path: Path) -> None:
    folder = add_checkpoint(tmp_path, "a")
    (folder / "checkpoint.json").write_text('{"name": ')
    with pytest.raises(CheckpointDamaged, match=r"a@1/checkpoint\.json"):
        list_checkpoints(tmp_path)


def test_the_base_checkpoint_is_an_ordinary_hugging_face_folder_with_a_card(base_checkpoint: Path) -> None:
    [card] = [each.card for each in list_checkpoints(base_checkpoint.parent) if each.card.label == LABEL]
    config = json.loads((base_checkpoint / "config.json").read_text())
    assert (config["architectures"], config["dtype"]) == (["LlamaForCausalLM"], "bfloat16")
    assert "quantization_config" not in config
    assert len(card.weights_hash) == 64
    assert (base_checkpoint / "chat_template.jinja").is_file()
    # 134.5 million parameters of two bytes, the tied output layer stored once.
    assert (base_checkpoint / "model.safetensors").stat().st_size == pytest.approx(269e6, rel=0.01)
