from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpus.leakage import NEAR, leaks
from corpus.loading import load_corpus
from corpus.world.generate import DOCUMENTS, SEED, world_corpus
from corpus.world.variants import VARIANTS
from experiments.corpus_command import corpus as command

SHIPPED = Path(__file__).parents[2] / "corpus" / "lormar"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    destination = tmp_path_factory.mktemp("world") / "lormar"
    done = CliRunner().invoke(command, ["write", str(destination), "--sets"], catch_exceptions=False)
    assert done.exit_code == 0
    return destination


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_shipped_corpus_is_byte_for_byte_what_the_program_writes(written):
    shipped = files(SHIPPED)
    del shipped["README.md"]
    assert shipped == files(written)


def test_the_shipped_corpus_loads_as_the_world_that_it_was_written_from():
    loaded, world = load_corpus(SHIPPED), world_corpus()
    assert loaded.name == world.name == "lormar"
    assert loaded.questions == world.questions
    assert sorted(loaded.documents, key=lambda document: document.id) == sorted(
        world.documents, key=lambda document: document.id
    )
    assert loaded.documents_hash == world.documents_hash


@pytest.mark.parametrize("name", VARIANTS)
def test_every_set_loads_as_a_corpus_of_its_own(name):
    corpus = load_corpus(SHIPPED / name)
    assert len(corpus.documents) == 20
    assert corpus.questions


def test_the_data_card_states_the_true_sizes():
    card = (SHIPPED / "README.md").read_text(encoding="utf-8")
    world = world_corpus()
    words = [len(document.text.split()) for document in world.documents]
    low, high = map(int, re.search(r"(\d+), of (\d+) to (\d+) words", card).groups()[1:])
    assert low <= min(words)
    assert max(words) <= high
    assert f"| documents | {len(world.documents)}," in card
    assert f"| facts | {len({question.fact_id for question in world.questions})}," in card
    train, test = len(world.split("train")), len(world.split("test"))
    assert f"| questions | {train + test}: {train} in training wordings" in card
    assert f"and {test} in test wordings" in card
    assert f"--seed {SEED} --documents {DOCUMENTS} --sets" in card


def test_the_data_card_states_how_near_the_nearest_wordings_are():
    card = (SHIPPED / "README.md").read_text(encoding="utf-8")
    nearest = max(leak.similarity for leak in leaks(load_corpus(SHIPPED), near=0.5))
    assert f"The nearest pair has {nearest:.0%}".replace("%", " %") in card
    assert f"counts {NEAR:.0%}".replace("%", " %") in card


def test_a_written_world_of_json_lines_loads(tmp_path):
    destination = tmp_path / "world"
    done = CliRunner().invoke(
        command, ["write", str(destination), "--seed", "5", "--documents", "30", "--format", "jsonl"]
    )
    assert done.exit_code == 0
    assert done.stdout == f"{destination}\n"
    loaded = load_corpus(destination)
    assert (loaded.documents, loaded.questions) == (world_corpus(5, 30).documents, world_corpus(5, 30).questions)


def test_a_folder_with_files_is_never_written_into(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = CliRunner().invoke(command, ["write", str(tmp_path)])
    assert done.exit_code != 0
    assert "is there already and is not an empty folder" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
