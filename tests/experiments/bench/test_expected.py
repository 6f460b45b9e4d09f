"""What the soak takes for stale, and what it expects to be found."""

from __future__ import annotations

from experiments.bench.expected import Expected
from experiments.bench.mixed_load import MixedLoad


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def changed(expected: Expected, clock: Clock, text: str | None, asked: float, done: float) -> None:
    clock.now = asked
    expected.begin("a", text)
    clock.now = done
    expected.done("a")


def test_during_a_change_both_texts_may_be_returned_and_after_it_the_new_one_alone() -> None:
    clock = Clock()
    expected = Expected(clock)
    changed(expected, clock, "one", 1, 2)
    changed(expected, clock, "two", 10, 12)
    stale = [
        (quote, asked, answered)
        for quote in ("one", "two")
        for asked, answered in ((0, 0.5), (3, 4), (9, 11), (11, 11.5), (13, 14))
        if expected.is_stale("a", quote, 0, asked, answered)
    ]
    assert stale == [("one", 0, 0.5), ("one", 13, 14), ("two", 0, 0.5), ("two", 3, 4)]


def test_a_deleted_text_is_stale_and_one_that_never_was_too() -> None:
    clock = Clock()
    expected = Expected(clock)
    changed(expected, clock, "the text", 1, 2)
    assert expected.is_stale("a", "text", 0, 3, 4)
    assert not expected.is_stale("a", "text", 4, 3, 4)
    assert expected.is_stale("b", "text", 4, 3, 4)
    changed(expected, clock, None, 5, 6)
    assert expected.is_stale("a", "text", 4, 7, 8)


def test_only_what_was_there_all_the_time_must_be_found() -> None:
    clock = Clock()
    expected = Expected(clock)
    changed(expected, clock, "one", 1, 2)
    clock.now = 10
    expected.begin("a", "two")
    times = [(1.5, 3.0), (3.0, 4.0), (9.0, 11.0), (11.0, 12.0)]
    assert [expected.must_be_found("a", *each) for each in times] == [False, True, False, False]


def test_a_stale_passage_and_a_stale_citation_are_faults() -> None:
    load = MixedLoad("http://127.0.0.1:9", documents=1)
    load._expected.begin("beacon0", "The keeper is Orla.")
    load._expected.done("beacon0")
    now = load._expected.clock()
    good = {"document_id": "beacon0", "start": 4, "text": "keeper", "quote": "keeper"}
    load._check({"passages": [good], "citations": [good]}, now)
    assert not load.tally.faults
    bad = {**good, "text": "Keeper", "quote": "Bertram"}
    load._check({"passages": [bad, good], "citations": [bad]}, now)
    assert load.tally.faults == {"stale passages": 1, "stale citations": 1}
    assert load.tally.done == {"passages": 3, "citations": 2}
