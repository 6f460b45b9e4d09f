from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.citations import cite
from app.schemas.passage import Passage


def passage(text: str, label: int = 1, start: int = 0) -> Passage:
    return Passage(
        label=label,
        id=100 + label,
        document_id=f"{label}.md",
        title="",
        source="",
        text=text,
        start=start,
        end=start + len(text),
        score=1.0,
    )


KEEPER = passage("Its keeper is Orla Venn, who has 1,204 steps to climb.", 1, start=40)
FERRY = passage("The Patient Heron leaves at seven.", 2)


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ("Orla Venn", "Orla Venn"),
        ("orla  venn.", "Orla Venn"),
        ("1,204 steps", "1,204 steps"),
        ("1204 steps", None),
        ("Patient Heron", "Patient Heron"),
        ("a Patient Heron!", "Patient Heron"),
        ("Orla", "Orla"),
        ("Captain Orla Venn", "Orla Venn"),
        ("It is Orla Venn", "is Orla Venn"),
        ("He lives by the sea", None),
        ("The keeper there, as everybody in town will tell you, is Orla Venn, who has a dog", "is Orla Venn, who has"),
        ("The keeper there, as everybody in town will tell you, is Orla Venn", None),
        ("1,204 steps to go", "1,204 steps to"),
        ("Venn Orla", None),
        ("yes", None),
        ("the", None),
        ("", None),
    ],
)
def test_words_are_found_without_case_punctuation_and_articles(answer: str, quote: str | None) -> None:
    found = cite(answer, [KEEPER, FERRY])
    assert [citation.quote for citation in found] == ([quote] if quote else [])
    assert all(citation.method == "verbatim" for citation in found)


def test_offsets_are_those_of_the_document() -> None:
    [citation] = cite("Orla Venn", [KEEPER])
    # "Its keeper is " has 14 characters, and the passage begins at 40.
    assert (citation.start, citation.end) == (54, 63)


def test_every_passage_that_holds_the_words_is_cited() -> None:
    again = passage("Orla Venn was born in 1799.", 2)
    assert [citation.passage_id for citation in cite("Orla Venn", [KEEPER, again])] == [101, 102]


def test_markers_cite_their_passages_in_the_order_written() -> None:
    found = cite("Seven [2], says Orla Venn【1】 [2].", [KEEPER, FERRY])
    assert [(citation.label, citation.method) for citation in found] == [(2, "marker"), (1, "marker")]


def test_a_marker_quotes_the_words_where_they_stand_there_else_the_passage() -> None:
    assert cite("Orla Venn [1]", [KEEPER])[0].quote == "Orla Venn"
    assert cite("The keeper of it [1]", [KEEPER])[0].quote == KEEPER.text


def test_a_marker_of_no_passage_cites_nothing() -> None:
    assert cite("Nobody knows [7]", [KEEPER, FERRY]) == ()
    assert [citation.method for citation in cite("Orla Venn [7]", [KEEPER, FERRY])] == ["verbatim"]


texts = st.text(st.sampled_from("ab. ,[]【】12ßÉ\n"), max_size=30)


@given(answer=texts, bodies=st.lists(texts, max_size=4), start=st.integers(0, 50))
def test_a_citation_always_quotes_a_given_passage_exactly(answer: str, bodies: list[str], start: int) -> None:
    passages = [passage(body, label, start) for label, body in enumerate(bodies, 1)]
    by_id = {each.id: each for each in passages}
    found = cite(answer, passages)
    for citation in found:
        cited = by_id[citation.passage_id]
        assert cited.text[citation.start - start : citation.end - start] == citation.quote
        assert citation.label == cited.label
    assert len({citation.passage_id for citation in found}) == len(found)
