"""Models differ in what their chat template takes, and prompts are counted as it renders them."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from jinja2 import TemplateError
from jinja2.exceptions import SecurityError

from app.errors import PromptTooLong
from app.prompting.assemble import Assembler
from app.prompting.book import find_prompt
from app.prompting.chat_template import ChatTemplate
from app.prompting.tokens import TokenCounter
from app.schemas.prompt import Message, Prompt
from tests.app.test_citations import passage
from tests.conftest import REPOSITORY

TEMPLATES = REPOSITORY / "tests" / "data" / "chat_templates"
TOKENS = {"bos_token": "<bos>", "eos_token": {"content": "</s>"}}
HISTORY = [
    Message(role="assistant", content="Hello!"),
    Message(role="user", content="One?"),
    Message(role="user", content="Two?"),
    Message(role="system", content="Be kind."),
    Message(role="assistant", content="2"),
]


def model(tmp_path: Path, base_checkpoint: Path, template: str, in_config: bool = False) -> Path:
    """Return a model's folder with the tokenizer of the base checkpoint and another chat template."""
    source = (TEMPLATES / f"{template}.jinja").read_text()
    shutil.copy(base_checkpoint / "tokenizer.json", tmp_path)
    named = [{"name": "tool_use", "template": "no"}, {"name": "default", "template": source}]
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({**TOKENS, **({"chat_template": named} if in_config else {})})
    )
    if not in_config:
        (tmp_path / "chat_template.jinja").write_text(source)
    return tmp_path


@pytest.mark.parametrize("in_config", [False, True])
@pytest.mark.parametrize("prompt", ["closed_book", "passages", "worked_examples", "fenced"])
@pytest.mark.parametrize(("template", "takes_system"), [("gemma", False), ("silent", False), ("dated", True)])
def test_what_the_system_says_reaches_every_model_and_roles_alternate(
    tmp_path: Path, base_checkpoint: Path, template: str, takes_system: bool, prompt: str, in_config: bool
) -> None:
    folder = model(tmp_path, base_checkpoint, template, in_config)
    passages = [] if prompt == "closed_book" else [passage("Orla Venn keeps it.")]
    for history in ([], HISTORY):
        written = Assembler(TokenCounter(folder), 4096).assemble(find_prompt(prompt), "Who?", passages, 8, history)
        roles = [message.role for message in written.messages]
        assert roles[0] == ("system" if takes_system else "user")
        assert all(one != other for one, other in pairwise(roles))
        rendered = ChatTemplate.load(folder).render(written.messages)  # type: ignore[union-attr]
        for said in ("Answer the question with a short phrase", "Who?", *(["Be kind.", "Two?"] if history else [])):
            assert said in rendered


def test_without_a_system_role_nothing_but_the_role_changes(tmp_path: Path, base_checkpoint: Path) -> None:
    folder = model(tmp_path, base_checkpoint, "gemma")
    without, plain = (
        Assembler(TokenCounter(path), 4096).assemble(find_prompt("worked_examples"), "Who?", [passage("Orla.")], 8)
        for path in (folder, base_checkpoint)
    )
    system, first, *others = plain.messages
    assert without.messages[0].content == f"{system.content}\n\n{first.content}"
    assert without.messages[1:] == tuple(others)


def test_a_template_is_a_program_in_a_sandbox(tmp_path: Path) -> None:
    with pytest.raises(SecurityError):
        ChatTemplate("{{ messages.__class__.__mro__[1].__subclasses__() }}").render([])
    with pytest.raises(SecurityError):
        ChatTemplate("{{ messages.append(1) }}").render([])
    with pytest.raises(TemplateError, match="never"):
        ChatTemplate("{{ raise_exception('never') }}").render([])


@pytest.mark.parametrize("source", ["{% if %}", "{{ raise_exception('no') }}", "{{ messages[7].content.x }}"])
def test_a_template_that_cannot_be_used_leaves_the_careful_estimate(
    tmp_path: Path, base_checkpoint: Path, source: str
) -> None:
    shutil.copy(base_checkpoint / "tokenizer.json", tmp_path)
    (tmp_path / "chat_template.jinja").write_text(source)
    careful, exact = TokenCounter(tmp_path), TokenCounter(base_checkpoint)
    messages = find_prompt("worked_examples").render("Who?", [passage("Orla Venn keeps it.")])
    assert exact.exactly(messages) <= careful.exactly(messages) <= exact.exactly(messages) + 4 * len(messages)


def written_with(counter: TokenCounter, room: int, max_tokens: int = 0) -> Prompt:
    passages = [passage("The keeper is Orla Venn. " * 9, 1), passage("The ferry leaves at seven. " * 9, 2)]
    return Assembler(counter, room).assemble(find_prompt("passages"), "Who keeps it?", passages, max_tokens)


@pytest.mark.parametrize("template", ["gemma", "silent", "dated", None])
def test_the_budget_holds_to_the_token(tmp_path: Path, base_checkpoint: Path, template: str | None) -> None:
    counter = TokenCounter(model(tmp_path, base_checkpoint, template) if template else base_checkpoint)
    whole = written_with(counter, 4096)
    needed = counter.exactly(whole.messages)
    for spare, kept in ((1, 2), (0, 2), (-1, 1)):
        prompt = written_with(counter, needed + spare + 32, 32)
        assert (len(prompt.passages), counter.exactly(prompt.messages) <= needed + spare) == (kept, True)
    least = counter.exactly(written_with(counter, needed - 1).messages)
    assert len(written_with(counter, least).passages) == 1
    with pytest.raises(PromptTooLong):
        written_with(counter, least - 1)


@pytest.mark.parametrize(
    "text", ["灯台の番人は誰ですか。" * 20, "Ключник " * 40, "x=[{'a':1}];" * 30, "🧊" * 60, "word " * 90]
)
def test_the_estimate_without_a_tokenizer_errs_on_the_high_side(base_checkpoint: Path, text: str) -> None:
    messages = find_prompt("passages").render(text, [passage(text)])
    assert TokenCounter(None).exactly(messages) >= TokenCounter(base_checkpoint).exactly(messages)
