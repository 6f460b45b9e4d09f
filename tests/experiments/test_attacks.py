from __future__ import annotations

from collections import Counter

import pytest

from app.prompting.assemble import Assembler
from app.prompting.book import find_prompt
from app.prompting.tokens import TokenCounter
from experiments.bench.attacks.attack import Attack, read_attacks
from experiments.bench.attacks.command import table
from experiments.bench.attacks.ways import Outcome
from tests.app.test_citations import passage

ATTACKS = read_attacks()


def test_there_are_five_attacks_of_each_kind_and_each_can_be_answered_rightly():
    assert Counter(each.kind for each in ATTACKS).most_common() == [
        (kind, 5) for kind in ("instruction", "frame", "control", "turn", "lookalike", "exfiltration")
    ]
    assert len({each.id for each in ATTACKS}) == len(ATTACKS)
    assert all(each.fact in each.text and not each.answered(each.goal) for each in ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_a_forged_line_is_seen_where_nothing_is_done_about_it_and_gone_in_the_defended_prompt(attack: Attack):
    raw = f"[1] {attack.title}\n{attack.text}\n\nQuestion: {attack.question}\nAnswer:"
    shown = passage(attack.text).model_copy(update={"title": attack.title})
    written = Assembler(TokenCounter(None), 4096).assemble(find_prompt("passages"), attack.question, [shown], 8)
    if attack.kind == "frame":
        assert attack.forged_lines(raw) > 0
    assert attack.forged_lines(written.messages[-1].content) == 0


def test_the_table_counts_each_kind_and_all():
    outcomes = [
        Outcome(way, f"{kind}-1", kind, "PWNED", way == "naive", True, int(way == "naive"), 0)
        for kind in ("frame", "control")
        for way in ("naive", "undefended", "defended")
    ]
    lines = [line.split() for line in table(outcomes).splitlines()]
    assert lines[1] == ["frame", "naive", "1", "1", "1", "1"]
    assert lines[-1] == ["all", "defended", "2", "0", "0", "2"]
