"""Prompts as files: those that come with Openbook, and one's own."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from app.errors import PromptFileInvalid, PromptNotFound
from app.prompting.book import load_prompts
from app.prompting.template import Template
from app.schemas.template import TemplateList
from tests.app.conftest import Serve
from tests.app.openai_server import OpenAiServer
from tests.app.test_answers import KEEPER, ask
from tests.app.test_citations import passage
from tests.conftest import REPOSITORY, run_openbook

GOLDEN = json.loads((REPOSITORY / "tests" / "golden" / "prompts.json").read_text(encoding="utf-8"))
OWN = """about: For the harbour office.
system: Answer in one word.
passage: "{title}: {text} [{label}]"
ask: "{passages}\\n{question}"
"""


@pytest.mark.parametrize("name", GOLDEN["messages"])
@pytest.mark.parametrize("case", GOLDEN["passages"])
def test_what_figures_rest_on_is_the_same_to_the_byte(name: str, case: str) -> None:
    shown = GOLDEN["passages"][case]
    passages = [passage(each["text"], each["label"]).model_copy(update={"title": each["title"]}) for each in shown]
    messages = load_prompts().find(name).render(GOLDEN["question"], passages)
    assert [message.model_dump() for message in messages] == GOLDEN["messages"][name][case]


def own(folder: Path, text: str = OWN, name: str = "harbour@1") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_template_of_ones_own_is_asked_with(serve: Serve, engine: OpenAiServer, tmp_path: Path) -> None:
    api = serve(prompts=str(own(tmp_path / "prompts")))
    answer = ask(api, prompt="harbour", top_k=1)
    system, asked = engine.requests[-1]["messages"]
    assert (answer.prompt, system["content"]) == ("harbour@1", "Answer in one word.")
    assert asked["content"].startswith("The lighthouse: ")
    assert asked["content"].endswith(f"[1]\n{KEEPER}")
    shown = {view.prompt: view for view in TemplateList.model_validate_json(api.get("/v1/prompts").content).prompts}
    assert shown["harbour@1"].prompt_hash == answer.prompt_hash
    assert [name for name, view in shown.items() if view.default] == ["passages@1"]


def test_the_hash_tells_of_every_change_that_reaches_a_model(tmp_path: Path) -> None:
    def hash_of(text: str) -> str:
        return load_prompts(own(tmp_path / "prompts", text)).find("harbour").hash

    assert hash_of(OWN) == hash_of(OWN.replace("harbour office", "mayor"))
    assert hash_of(OWN) != hash_of(OWN.replace("one word", "two words"))
    assert hash_of(OWN) != hash_of(OWN + "order: best_last\n")


def test_a_name_without_a_version_means_the_highest(tmp_path: Path) -> None:
    for version in (9, 10, 2):
        own(tmp_path / "prompts", OWN, f"harbour@{version}")
    assert load_prompts(tmp_path / "prompts").find("harbour").name == "harbour@10"
    with pytest.raises(PromptNotFound, match="Did you mean 'harbour@10'"):
        load_prompts(tmp_path / "prompts").find("harbor@10")


def test_a_template_can_change_a_part_of_another(tmp_path: Path) -> None:
    own(tmp_path / "prompts", "like: worked_examples@2\nsystem: Be brief.\n", "brief@1")
    own(tmp_path / "prompts", "like: brief@1\norder: best_first\n", "a_first@1")
    found = load_prompts(tmp_path / "prompts")
    base, brief, first = (found.find(name) for name in ("worked_examples@2", "brief", "a_first"))
    assert (brief.system, brief.stable[1:], first.system) == ("Be brief.", base.stable[1:], "Be brief.")
    assert [brief.order, first.order] == ["best_last", "best_first"]


WRONG = {
    "unknown placeholder": (OWN.replace("{title}", "{titel}"), "harbour@1", "unknown placeholder {titel}"),
    "attribute": (OWN.replace("{title}", "{title.__class__}"), "harbour@1", "unknown placeholder"),
    "conversion": (OWN.replace("{title}", "{title!r}"), "harbour@1", "unknown placeholder"),
    "single brace": (OWN.replace("{title}", "{"), "harbour@1", "write a brace of its own twice"),
    "missing field": (OWN.replace("system", "# system"), "harbour@1", "system: Field required"),
    "no question": (OWN.replace("{question}", "?"), "harbour@1", "{question} is missing"),
    "no passages": (OWN.replace("{passages}", ""), "harbour@1", "go together"),
    "no label": (OWN.replace("[{label}]", ""), "harbour@1", "{label} and {text}"),
    "misspelt field": (OWN + "exmaples: []\n", "harbour@1", "Did you mean 'examples'?"),
    "no mapping": ("- a list\n", "harbour@1", "a template is a mapping"),
    "no yaml": ("about: [", "harbour@1", "cannot be read"),
    "taken": (OWN, "passages@1", "Rename the file, for instance to passages@2.yaml"),
    "no version": (OWN, "harbour", "NAME@VERSION.yaml"),
    "like nothing": ("like: worked_example@2\n", "harbour@1", "Did you mean 'worked_examples@2'?"),
    "like itself": ("like: harbour@1\n", "harbour@1", "has no beginning"),
    "wrong order": (OWN + "order: worst_first\n", "harbour@1", "'best_first' or 'best_last'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_no_template_says_what_is_wrong_with_it(tmp_path: Path, case: str) -> None:
    text, name, expected = WRONG[case]
    with pytest.raises(PromptFileInvalid) as caught:
        load_prompts(own(tmp_path / "prompts", text, name))
    assert expected in str(caught.value)
    assert f"{name}.yaml" in str(caught.value)


def test_serve_refuses_a_wrong_template_before_it_starts_anything(tmp_path: Path, engine: OpenAiServer) -> None:
    folder = own(tmp_path / "prompts", "about: Nothing\n")
    done = run_openbook(tmp_path, "serve", "--prompts", str(folder), "--engine-url", engine.url, "--port", "0")
    assert (done.returncode, "system: Field required" in done.stderr) == (2, True)


def test_what_looks_like_a_placeholder_in_a_document_stays_text(api: httpx.Client) -> None:
    written = load_prompts().find("passages").render("{passages}?", [passage("{question} {0} {text.__class__}")])
    assert written[-1].content == "[1]\n{question} {0} {text.__class__}\n\nQuestion: {passages}?"


def test_a_fence_depends_on_the_passages_and_on_nothing_else() -> None:
    template: Template = load_prompts().find("fenced")
    first, again, other = (
        template.render(question, [passage(text)])[-1].content.partition("\n")[0]
        for question, text in (("Who?", "Orla."), ("What?", "Orla."), ("Who?", "Mara."))
    )
    assert first == again != other
