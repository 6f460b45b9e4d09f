"""What the documents say of the command line is true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import openbook

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL_BLOCK = re.compile(r"```(?:sh|shell|bash|console)\n(.*?)```", re.DOTALL)


def shell_lines(program: str) -> list[tuple[str, str]]:
    """Return (page, line) for every shell line of the pages that calls a program, continuation lines joined."""
    found = []
    for page in PAGES:
        for block in SHELL_BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                command = re.sub(r"^\$ |^\.venv/bin/", "", line.strip())
                if command.startswith(f"{program} "):
                    found.append((page.name, command))
    return found


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    """Follow the words down the groups; return the command and the words left for it."""
    command: click.Command = openbook.cli
    context = click.Context(command, info_name="openbook")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        child = command.get_command(context, words[0])
        assert child is not None, f"no such command: {words[0]}"
        context = click.Context(child, parent=context, info_name=words[0])
        command, words = child, words[1:]
    return command, words


@pytest.mark.parametrize(("page", "line"), shell_lines("openbook"))
def test_a_command_in_the_documents_exists_with_its_options(page, line):
    words = shlex.split(line, comments=True)[1:]
    for stop in ("&", "|", ">", "2>", "&&"):
        words = words[: words.index(stop)] if stop in words else words
    command, rest = resolve(words)
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known | {"--help", "--version"}


@pytest.mark.parametrize(("page", "line"), shell_lines("make"))
def test_a_make_target_in_the_documents_exists(page, line):
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    asked = [word for word in shlex.split(line, comments=True)[1:] if "=" not in word]
    assert set(asked) <= set(targets)


def test_the_page_of_commands_is_what_the_command_line_prints():
    # In a process of its own: a command that a test has called keeps the help options of that call.
    program = "import sys; sys.path.insert(0, 'docs'); from write_commands import commands_page; print(commands_page())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    printed = done.stdout.removesuffix("\n")
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == printed, "run `make docs`"


def test_every_link_to_a_file_leads_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_readme_names_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in openbook.COMMANDS if f"openbook {name}" not in readme] == []


def test_the_readme_tree_names_folders_and_files_that_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = re.search(r"```text\n(corpus/.*?)```", readme, re.DOTALL)
    assert tree is not None
    named = re.findall(r"^([A-Za-z_./]+)", tree.group(1), re.MULTILINE)
    assert len(named) >= 6
    assert [path for path in named if not (ROOT / path).exists()] == []
