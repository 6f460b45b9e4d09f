"""The chat template of a model, rendered as the engine renders it: for exact counts, and to see what it cannot take.

Templates come with a model and are programs. As in transformers they run in a sandbox that can change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.schemas.prompt import Message

SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")
PROBE = "The probe says 7391."


class ChatTemplate:
    """One model's template."""

    def __init__(self, source: str, tokens: dict[str, str] | None = None) -> None:
        """Compile a template; `tokens` are the special tokens that it may name.

        Raises:
            jinja2.TemplateError: It is no template.
        """
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _strftime_now
        self._template = environment.from_string(source)
        self._tokens = tokens or {}
        self.takes_system = self._shows_system()

    @classmethod
    def load(cls, model: Path) -> ChatTemplate | None:
        """Read the template of a model's folder; None where there is none that can be used."""
        config = _config(model)
        file = model / "chat_template.jinja"
        try:
            source = file.read_text(encoding="utf-8") if file.is_file() else _source(config)
            template = cls(source, _tokens(config)) if source else None
            if template:
                template.render([Message(role=role, content="x") for role in ("user", "assistant", "user")])
            return template
        except (TemplateError, OSError, ValueError):
            return None

    def render(self, messages: Sequence[Message]) -> str:
        """Return the text that the engine tokenises.

        Raises:
            jinja2.TemplateError: The template refuses the messages.
        """
        shown = [{"role": message.role, "content": message.content} for message in messages]
        return self._template.render(messages=shown, add_generation_prompt=True, **self._tokens)

    def _shows_system(self) -> bool:
        """Whether a system message is taken, and not left out without a word."""
        try:
            return PROBE in self.render([Message(role="system", content=PROBE), Message(role="user", content="?")])
        except Exception:
            # A template is somebody else's program: whatever it raises, it does not show the message.
            return False


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with the system's at the head of the first user turn, for models without that role."""
    first, *others = messages
    if first.role != "system" or not others or others[0].role != "user":
        return tuple(messages)
    return (Message(role="user", content=f"{first.content}\n\n{others[0].content}"), *others[1:])


def _config(model: Path) -> dict[str, Any]:
    try:
        read = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _source(config: dict[str, Any]) -> str | None:
    """Return the template of a configuration: a text, or of several named ones the default."""
    found = config.get("chat_template")
    if isinstance(found, list):
        found = {each["name"]: each["template"] for each in found}.get("default")
    return found if isinstance(found, str) else None


def _tokens(config: dict[str, Any]) -> dict[str, str]:
    named = {name: config.get(name) for name in SPECIAL}
    texts = {name: token.get("content") if isinstance(token, dict) else token for name, token in named.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def _tojson(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.now().strftime(pattern)
