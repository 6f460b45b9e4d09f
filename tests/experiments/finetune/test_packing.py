import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.finetune.encoding import EncodedRow, encode
from experiments.finetune.errors import JobError
from experiments.finetune.packing import pack, plan, shared_prefix
from tests.experiments.finetune.conftest import ROWS

token_lists = st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple)
rows_of_tokens = st.lists(st.builds(EncodedRow, prompt=token_lists, completion=token_lists), min_size=1, max_size=8)

A = EncodedRow(prompt=(9, 9, 1, 2), completion=(3, 0))
B = EncodedRow(prompt=(9, 9, 5), completion=(6, 7, 0))


def test_a_row_begins_with_the_tokens_that_the_engine_sees(tokenizer) -> None:
    row = encode(ROWS, tokenizer, 128)[0]
    messages = [message.model_dump() for message in ROWS[0].messages]
    served = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
    assert list(row.prompt) == served
    assert tokenizer.decode(row.completion) == "Mara Tolle<|im_end|>"
    assert row.completion[-1] == tokenizer.eos_token_id


def test_a_row_longer_than_the_context_is_refused_by_number(tokenizer) -> None:
    with pytest.raises(JobError, match=r"Training row 1 has \d+ tokens, the model takes at most 10"):
        encode(ROWS, tokenizer, 10)


def test_two_rows_packed_by_hand() -> None:
    packed = pack([A, B])
    assert packed.tokens.tolist() == [[9, 9, 1, 2, 3, 5, 6, 7]]
    assert packed.positions.tolist() == [[0, 1, 2, 3, 4, 2, 3, 4]]
    assert packed.labelled.tolist() == [3, 4, 5, 6, 7]
    assert packed.labels.tolist() == [3, 0, 6, 7, 0]
    assert packed.visible[0, 0].int().tolist() == [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 0, 1, 1, 0],
        [1, 1, 0, 0, 0, 1, 1, 1],
    ]


@given(rows_of_tokens)
def test_each_packed_token_sees_its_own_row_up_to_itself_and_nothing_else(rows: list[EncodedRow]) -> None:
    packed = pack(rows)
    tokens, positions, visible = packed.tokens[0], packed.positions[0], packed.visible[0, 0]
    seen = [tokens[visible[place]].tolist() for place in packed.labelled.tolist()]
    expected = [
        list(row.inputs[: len(row.prompt) + answered]) for row in rows for answered in range(len(row.completion))
    ]
    assert seen == expected
    assert (visible.sum(1) == positions + 1).all()
    assert packed.labels.tolist() == [token for row in rows for token in row.completion]


@given(rows_of_tokens)
def test_the_shared_prefix_is_shared_and_leaves_each_row_a_token(rows: list[EncodedRow]) -> None:
    prefix = shared_prefix(rows)
    assert len({row.prompt[:prefix] for row in rows}) == 1
    assert min(len(row.prompt) for row in rows) > prefix
    longer = {row.prompt[: prefix + 1] for row in rows}
    assert len(longer) > 1 or min(len(row.prompt) for row in rows) == prefix + 1


@given(rows=rows_of_tokens, epochs=st.integers(1, 4), batch_tokens=st.integers(1, 40), seed=st.integers(0, 9))
def test_each_row_is_planned_once_an_epoch_within_the_budget(rows, epochs, batch_tokens, seed) -> None:
    steps = plan(rows, epochs, batch_tokens, seed)
    planned = [row for step in steps for row in step]
    for epoch in range(epochs):
        one = planned[epoch * len(rows) : (epoch + 1) * len(rows)]
        assert sorted(one, key=repr) == sorted(rows, key=repr)
    assert len(planned) == epochs * len(rows)
    assert all(step and (len(step) == 1 or pack(step).tokens.numel() <= batch_tokens) for step in steps)
    assert plan(rows, epochs, batch_tokens, seed) == steps


def test_a_pack_moves_whole() -> None:
    moved = pack([A, B]).to(torch.device("meta"))
    assert all(getattr(moved, name).device.type == "meta" for name in moved.__dataclass_fields__)
