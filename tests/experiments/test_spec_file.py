"""Specifications: every fault at once, with its line and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.prompting.book import load_prompts
from experiments.errors import SpecError
from experiments.spec import PROMPTS
from experiments.spec_file import SHIPPED, find_spec, read_spec

GOOD = """\
name: small
corpus: {path: data/corpus, format: squad}
primary: {a: rag, b: closed_book}
arms:
  closed_book: {retriever: none}
  rag: {retriever: dense, top_k: 2}
"""


def faults_of(text: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    return str(caught.value).splitlines()[1:]


def written(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_specification_is_valid_and_says_how_to_run_it(path):
    assert read_spec(path).arms
    assert f"openbook experiment run {path.stem}" in path.read_text(encoding="utf-8")


def test_the_prompts_are_those_of_the_app():
    assert set(PROMPTS) == {template.name.partition("@")[0] for template in load_prompts()}


def test_paths_are_relative_to_the_specification(tmp_path):
    spec = read_spec(written(f"{GOOD}model: ./weights\nembedder: sentence/model\n", tmp_path))
    assert spec.corpus.path == tmp_path / "data" / "corpus"
    assert (spec.model, spec.embedder) == (str(tmp_path / "weights"), "sentence/model")


def test_what_is_left_out_has_a_default(tmp_path):
    spec = read_spec(written(GOOD, tmp_path))
    assert (spec.concurrency, spec.margin, spec.model, spec.panel) == (16, 0.05, None, "general")
    assert spec.arms["rag"].decoding.temperature == 0
    assert spec.finetuned_arms == ()


def test_all_faults_are_told_at_once_with_line_and_nearest_name(tmp_path):
    faults = faults_of(
        """\
name: small
corpsu: {path: x}
corpus: {path: x, fromat: squad, format: squat}
margin: 7
primary: {a: rga, b: ft, metric: contians_answer}
finetune: {recipe: question_answr, epoch: 3}
arms:
  rag: {retriever: desne, top_k: 0, prompt: pasages, decoding: {temprature: 0}}
  ft: {retriever: none, checkpoint: finetund}
  x: 3
""",
        tmp_path,
    )
    expected = [
        ("line 2, corpsu", "'corpus'"),
        ("line 3, corpus.fromat", "'format'"),
        ("line 3, corpus.format", "'squad'"),
        ("line 4, margin", "not 7"),
        ("line 5, primary.a", "'rag'"),
        ("line 5, primary.metric", "'contains_answer'"),
        ("line 6, finetune.recipe", "'question_answer'"),
        ("line 6, finetune.epoch", "'epochs'"),
        ("line 8, arms.rag.retriever", "'dense'"),
        ("line 8, arms.rag.top_k", "not 0"),
        ("line 8, arms.rag.prompt", "'passages'"),
        ("line 8, arms.rag.decoding.temprature", "'temperature'"),
        ("line 9, arms.ft.checkpoint", "'finetuned'"),
        ("line 10, arms.x", "not 3"),
    ]
    assert len(faults) == len(expected)
    for place, hint in expected:
        assert any(f"  {place}:" in fault and hint in fault for fault in faults), (place, faults)


def test_what_is_missing_is_named(tmp_path):
    faults = faults_of("name: small\n", tmp_path)
    assert [fault.strip() for fault in faults] == [f"line 1, {key}: missing." for key in ("corpus", "primary", "arms")]


def test_a_key_given_twice_is_a_fault(tmp_path):
    (fault,) = faults_of(f"{GOOD}  rag: {{retriever: none}}\n", tmp_path)
    assert fault == "  line 6, arms.rag: given twice, in lines 6 and 7."


def test_an_arm_is_not_compared_with_itself(tmp_path):
    (fault,) = faults_of(GOOD.replace("b: closed_book", "b: rag"), tmp_path)
    assert "compared with itself" in fault


def test_an_arm_on_the_other_corpus_needs_one(tmp_path):
    (fault,) = faults_of(GOOD.replace("top_k: 2", "corpus: other"), tmp_path)
    assert "'other_corpus' is not given" in fault


def test_a_corpus_comes_from_one_source(tmp_path):
    (fault,) = faults_of(GOOD.replace("format: squad", "world: {seed: 1}"), tmp_path)
    assert "either 'path' or 'world'" in fault


def test_broken_yaml_is_told_with_line_and_column(tmp_path):
    with pytest.raises(SpecError, match="line 2, column 5"):
        read_spec(written("arms: {a: [1\nname: x", tmp_path))


@pytest.mark.parametrize("text", ["", "# nothing\n", "--- \n"])
def test_an_empty_specification_says_what_it_needs(text, tmp_path):
    with pytest.raises(SpecError, match="is empty"):
        read_spec(written(text, tmp_path))


def test_a_list_is_no_specification(tmp_path):
    with pytest.raises(SpecError, match="not a mapping"):
        read_spec(written("- rag\n- ft\n", tmp_path))


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_bytes(b"name: caf\xe9\n")
    with pytest.raises(SpecError, match="not UTF-8"):
        read_spec(path)


def test_a_missing_specification_lists_the_shipped_ones():
    with pytest.raises(SpecError, match=r"Did you mean 'demo'.*Shipped: .*demo"):
        find_spec("demmo")


def test_a_folder_is_no_specification(tmp_path):
    with pytest.raises(SpecError, match="is a folder"):
        find_spec(str(tmp_path))


def test_a_shipped_specification_is_found_by_name():
    assert find_spec("demo") == SHIPPED / "demo.yaml"
