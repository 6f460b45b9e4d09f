"""An answer shows what it rests on, and without anything to rest on there is none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.access.caller import EVERYBODY, acting_as
from app.access.guarded_index import GuardedIndex
from app.citations import cite
from app.engine import ServedModel
from app.evidence import Evidence, find_evidence
from app.schemas.answer import Answer
from app.schemas.passage import Passage
from app.schemas.prompt import Prompt
from indexer.index import Index
from indexer.store.writer import open_writer
from tests.app.conftest import Serve
from tests.app.openai_server import MODEL, OpenAiServer
from tests.app.test_answers import KEEPER, ask
from tests.app.test_citations import passage
from tests.app.test_cli import ask as ask_command
from tests.app.test_streaming import stream

NOTHING: dict[str, tuple[dict[str, object], str]] = {
    "threshold": ({"min_score": 1.01}, "below_threshold"),
    "filter": ({"filter": {"id": "nobody.md"}}, "filter_matches_nothing"),
    "day": ({"as_of": "2000-01-01"}, "filter_matches_nothing"),
    "words": ({"question": "xylophone?", "retriever": "lexical"}, "no_word_found"),
    "hybrid": ({"retriever": "hybrid", "min_score": 1.01}, "below_threshold"),
}


@pytest.mark.parametrize("case", NOTHING)
def test_where_nothing_is_found_the_engine_is_not_asked(api: httpx.Client, engine: OpenAiServer, case: str) -> None:
    request, reason = NOTHING[case]
    answer = ask(api, **request)
    assert (answer.answerable, answer.nothing_found, answer.answer) == (
        False,
        reason,
        "The documents do not answer this.",
    )
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.passages) == (0, 0, ())
    assert answer.prompt == ask(api).prompt
    assert len(engine.requests) == 1


def test_a_stream_says_at_once_that_there_is_no_answer(api: httpx.Client, engine: OpenAiServer) -> None:
    events = stream(api, min_score=1.01)
    assert [name for name, _ in events] == ["retrieval", "token", "final"]
    assert [data.get("answerable") for _, data in events] == [False, None, False]
    assert events[0][1]["nothing_found"] == events[-1][1]["nothing_found"] == "below_threshold"
    assert events[1][1]["text"] == events[-1][1]["answer"]
    assert engine.requests == []


@pytest.mark.parametrize("streaming", [False, True])
def test_openais_clients_get_the_text_and_the_reason(api: httpx.Client, engine: OpenAiServer, streaming: bool) -> None:
    with httpx.Client(trust_env=False) as http:
        client = openai.OpenAI(base_url=f"{api.base_url}/v1", api_key="none", http_client=http)
        asked = {"model": "openbook/rag", "messages": [{"role": "user", "content": KEEPER}]}
        options = {"extra_body": {"openbook": {"min_score": 1.01}}}
        if streaming:
            chunks = list(client.chat.completions.create(**asked, **options, stream=True))  # type: ignore[call-overload]
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            evidence = chunks[-1].to_dict()["openbook"]
        else:
            done = client.chat.completions.create(**asked, **options)  # type: ignore[call-overload]
            text, evidence = done.choices[0].message.content, done.to_dict()["openbook"]
            assert done.usage.total_tokens == 0
    assert text == "The documents do not answer this."
    assert (evidence["answerable"], evidence["nothing_found"]) == (False, "below_threshold")
    assert engine.requests == []


def test_a_prompt_that_would_not_be_sent_is_empty(api: httpx.Client) -> None:
    response = api.post("/v1/prompts", json={"question": KEEPER, "min_score": 1.01})
    prompt = Prompt.model_validate_json(response.content)
    assert (prompt.answerable, prompt.nothing_found, prompt.messages) == (False, "below_threshold", ())


def test_the_text_can_be_chosen_and_so_can_an_answer_from_memory(serve: Serve, engine: OpenAiServer) -> None:
    answer = ask(serve(unanswerable_text="Davon steht hier nichts."), min_score=1.01)
    assert (answer.answer, engine.requests) == ("Davon steht hier nichts.", [])
    answer = ask(serve(answer_without_passages=True), min_score=1.01)
    assert (answer.answer, answer.answerable, answer.prompt) == ("Orla Venn", True, "closed_book@1")
    assert answer.nothing_found == "below_threshold"


def test_a_closed_book_is_asked_as_ever(api: httpx.Client) -> None:
    answer = ask(api, retriever="none")
    assert (answer.answer, answer.answerable, answer.nothing_found) == ("Orla Venn", True, None)


def test_ask_says_why_there_is_no_answer(api: httpx.Client) -> None:
    lines = ask_command(api, "--filter", '{"id": "nobody.md"}').splitlines()
    assert lines[0] == "The documents do not answer this."
    assert lines[2] == "No passages were found: the filter, or the day, leaves none."


def test_markers_of_no_passage_are_counted(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.text = "Orla Venn [1], or so they say [7] [7] [0] in 1804"
    answer = ask(api, top_k=3)
    assert [(citation.label, citation.method) for citation in answer.citations] == [(1, "marker")]
    assert answer.invalid_citations == 3
    assert ask(api, retriever="none").invalid_citations == 4


def test_a_citation_names_version_and_page_of_its_passage(api: httpx.Client, saltmere: Index) -> None:
    answer = ask(api)
    [citation] = answer.citations
    cited = answer.passages[citation.label - 1]
    assert (citation.version, citation.page) == (cited.version, cited.page)
    document = saltmere.document("default", citation.document_id, citation.version)
    assert document.text[citation.start : citation.end] == citation.quote


def test_dropped_passages_are_named_with_the_reason(api: httpx.Client) -> None:
    answer = ask(api, top_k=6, decoding={"max_tokens": 200})
    more_room = ask(api, top_k=6)
    found = [*more_room.passages, *more_room.dropped_passages]
    used = [passage.id for passage in answer.passages]
    dropped = [passage.id for passage in answer.dropped_passages]
    assert used + dropped == [passage.id for passage in found]
    assert len(used) < len(more_room.passages)
    assert {passage.reason for passage in answer.dropped_passages} == {"budget"}


def test_the_stages_add_up_to_no_more_than_the_whole(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.delay_s = 0.05
    whole, streamed = ask(api).timing, Answer.model_validate(stream(api)[-1][1]).timing
    for timing in (whole, streamed):
        stages = [
            timing.queue_ms,
            timing.embed_ms,
            timing.search_ms,
            timing.prompt_ms,
            timing.generate_ms,
            timing.cite_ms,
        ]
        assert min(stages) >= 0
        assert min(timing.embed_ms, timing.search_ms, timing.prompt_ms, timing.cite_ms) > 0
        assert 50 <= timing.generate_ms <= sum(stages) <= timing.total_ms + 0.01
    assert whole.first_token_ms is None
    assert streamed.first_token_ms is not None
    assert 50 <= streamed.first_token_ms <= streamed.generate_ms


def test_an_answer_names_its_cost_where_tokens_have_a_price(serve: Serve) -> None:
    assert ask(serve()).cost is None
    cost = ask(serve(price_prompt=2.0, price_completion=10.0, currency="EUR")).cost
    # 90 prompt tokens and 3 of the answer.
    assert cost is not None
    assert (cost.currency, cost.money) == ("EUR", pytest.approx((90 * 2 + 3 * 10) / 1e6))
    nothing = ask(serve(price_prompt=2.0), min_score=1.01).cost
    assert nothing is not None
    assert nothing.money == 0


def test_an_engine_elsewhere_can_be_spared_system_messages(serve: Serve, engine: OpenAiServer) -> None:
    ask(serve(system_role=False), history=[{"role": "system", "content": "Be kind."}])
    [only] = engine.requests[-1]["messages"]
    assert only["role"] == "user"
    assert only["content"].startswith("Answer the question with a short phrase from the passages.\n\nBe kind.\n\n[1] ")


def test_an_answer_names_the_weights_that_made_it(serve: Serve, base_checkpoint: Path) -> None:
    card = json.loads((base_checkpoint / "checkpoint.json").read_text())
    local = serve(served=(ServedModel(MODEL, str(base_checkpoint), 512), ServedModel("far@1", "owner/far", 512)))
    assert ask(local).weights_hash == card["weights_hash"]
    assert ask(local, checkpoint="far@1").weights_hash is None


@dataclass(frozen=True)
class Store:
    """A store that texts are put into as they are, without an embedding model."""

    folder: Path

    def put(self, *texts: str) -> list[int]:
        """Store documents and return the keys of their versions."""
        with open_writer(self.folder, 5.0) as writer, writer.connection as connection:
            connection.execute("INSERT OR IGNORE INTO collections (name, fingerprint) VALUES ('default', '{}')")
            return [self._insert(connection, text) for text in texts]

    def delete(self, key: int) -> None:
        with open_writer(self.folder, 5.0) as writer:
            writer.delete("default", [f"d{key}"])

    @staticmethod
    def _insert(connection: sqlite3.Connection, text: str) -> int:
        [key] = connection.execute("SELECT coalesce(max(key), 0) + 1 FROM versions").fetchone()
        connection.execute("INSERT INTO documents VALUES (?, 'default', ?, ?)", (key, f"d{key}", key))
        connection.execute(
            "INSERT INTO versions VALUES (?, ?, ?, '', '', NULL, 0, NULL, '{}', '', '', '', '', NULL, NULL, '')",
            (key, key, text),
        )
        return int(key)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("texts") / "store")


def evidence_of(store: Store, answer: str, passages: Sequence[Passage]) -> Evidence:
    index = Index.open(store.folder)
    with acting_as(EVERYBODY):
        found = find_evidence(answer, passages, GuardedIndex(index))
    index.close()
    return found


def test_a_document_that_is_deleted_meanwhile_is_not_quoted(store: Store) -> None:
    text = "Its keeper is Orla Venn."
    [key] = store.put(text)
    read = passage(text).model_copy(update={"version": key})
    before = evidence_of(store, "Orla Venn", [read])
    store.delete(key)
    after = evidence_of(store, "Orla Venn", [read])
    assert ([citation.quote for citation in before.citations], before.invalid) == (["Orla Venn"], 0)
    assert (after.citations, after.invalid) == ((), 1)


def test_a_quote_that_is_not_the_stored_text_is_never_returned(store: Store) -> None:
    [key] = store.put("Its keeper is Orla Venn.")
    forged = passage("Its keeper is Mara Quill").model_copy(update={"version": key})
    assert evidence_of(store, "Mara Quill", [forged]) == Evidence((), 1)


texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(texts, min_size=1, max_size=4), data=st.data())
def test_every_quote_is_the_stored_text_at_its_span_whatever_the_script(
    store: Store, bodies: list[str], data: st.DataObject
) -> None:
    stored = [f"{body}Orla {body} Venn\U0001f9ca\u0301\0{body}" for body in bodies]
    passages = []
    for label, (key, text) in enumerate(zip(store.put(*stored), stored, strict=True), 1):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        passages.append(passage(text[start:end], label, start).model_copy(update={"version": key}))
    body = data.draw(st.sampled_from(bodies))
    answer = data.draw(st.sampled_from([body, f"Orla {body}", f"{body} [1]", "Venn", "[1]"]))
    found = evidence_of(store, answer, passages)
    for citation in found.citations:
        text = stored[citation.label - 1]
        assert text[citation.start : citation.end].encode() == citation.quote.encode()
    assert len(found.citations) == len(cite(answer, passages))
    assert found.citations or "[1]" not in answer
