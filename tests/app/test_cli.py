from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from app import cli
from app.asking import describe
from app.commands.checkpoints import checkpoints
from app.errors import OpenHost, PortInUse, ServerUnreachable
from app.schemas.answer import Answer
from app.server import listen, serve
from app.settings import Settings
from corpus.errors import UsageError
from tests.app.openai_server import OpenAiServer
from tests.conftest import run_openbook

KEEPER = "Who is the keeper of the lighthouse?"


def ask(api: httpx.Client, *arguments: str) -> str:
    result = CliRunner().invoke(cli.ask, [KEEPER, "--url", str(api.base_url), *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_ask_prints_the_answer_and_quotes_its_source(api: httpx.Client) -> None:
    lines = ask(api).splitlines()
    assert lines[0] == "Orla Venn"
    assert lines[3] == "  [1] lighthouse.md (The lighthouse)"
    assert "«Orla Venn»" in lines[4] + lines[5]


def test_ask_shows_what_was_read_where_nothing_is_cited(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.text = "Nobody at all"
    lines = ask(api, "--top-k", "2").splitlines()
    assert lines[:3] == ["Nobody at all", "", "The answer's words stand in none of the passages that were read:"]
    assert len([line for line in lines if line.startswith("  [")]) == 2


def test_ask_says_when_the_answer_is_empty(api: httpx.Client, engine: OpenAiServer) -> None:
    engine.text = " "
    assert ask(api, "--arm", "closed_book") == "(The model gave an empty answer.)\n"


def test_ask_prints_json_for_programs(api: httpx.Client) -> None:
    answer = Answer.model_validate_json(ask(api, "--json"))
    assert (answer.answer, answer.retriever) == ("Orla Venn", "dense")
    assert describe(answer).startswith("Orla Venn\n")


def test_ask_chooses_what_is_read(api: httpx.Client) -> None:
    of_the_ferry = Answer.model_validate_json(ask(api, "--filter", '{"id": "ferry.md"}', "--json"))
    assert {passage.document_id for passage in of_the_ferry.passages} == {"ferry.md"}
    of_the_past = Answer.model_validate_json(ask(api, "--as-of", "2000-01-01", "--retriever", "hybrid", "--json"))
    assert (of_the_past.retriever, of_the_past.passages) == ("hybrid", ())
    with pytest.raises(UsageError, match="--filter is no JSON"):
        CliRunner().invoke(cli.ask, [KEEPER, "--filter", "{"], catch_exceptions=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense"])
def test_ask_without_a_server_names_the_command_that_starts_one(url: str) -> None:
    with pytest.raises(ServerUnreachable, match="openbook serve"):
        CliRunner().invoke(cli.ask, [KEEPER, "--url", url], catch_exceptions=False)


def test_ask_repeats_what_the_server_refuses(api: httpx.Client) -> None:
    with pytest.raises(UsageError, match="Did you mean 'default'"):
        ask(api, "--collection", "defualt")


def test_ask_tells_another_server_from_openbook(engine: OpenAiServer) -> None:
    engine.status = 404
    with pytest.raises(ServerUnreachable, match="no Openbook server"):
        CliRunner().invoke(cli.ask, [KEEPER, "--url", engine.url], catch_exceptions=False)


def test_checkpoints_are_listed_for_people_and_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_checkpoint: Path
) -> None:
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path))
    target = tmp_path / "checkpoints" / base_checkpoint.name
    target.mkdir(parents=True)
    shutil.copy(base_checkpoint / "checkpoint.json", target)
    for_people = CliRunner().invoke(checkpoints, ["list"]).output
    assert for_people.startswith("smollm2-135m-instruct@1  made from SmolLM2-135M-Instruct.Q4_1.gguf")
    [card] = json.loads(CliRunner().invoke(checkpoints, ["list", "--json"]).output)
    assert (card["name"], card["path"]) == ("smollm2-135m-instruct", str(target))


def test_a_port_in_use_is_found_before_anything_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = run_openbook(tmp_path, "serve", "--port", str(port))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"Error: 127.0.0.1:{port} cannot be used: Address already in use.")
    assert not (tmp_path / "logs").exists()


def test_listening_takes_the_port_from_others() -> None:
    with listen("127.0.0.1", 0) as listener, pytest.raises(PortInUse, match="--port"):
        listen("127.0.0.1", listener.getsockname()[1])


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(OpenHost, match="--insecure"):
        serve(Settings(host=host))


def test_settings_of_the_environment_are_checked_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_PORT", "eight")
    with pytest.raises(UsageError, match="OPENBOOK_PORT"):
        CliRunner().invoke(cli.serve, [], catch_exceptions=False)


def test_an_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_HOST", "0.0.0.0")
    with pytest.raises(OpenHost, match=r"192\.168\.1\.5"):
        CliRunner().invoke(cli.serve, ["--host", "192.168.1.5"], catch_exceptions=False)


def test_an_engine_url_where_nothing_answers_ends_with_exit_code_5(tmp_path: Path) -> None:
    ended = run_openbook(tmp_path, "serve", "--port", "0", "--engine-url", "http://127.0.0.1:9")
    assert ended.returncode == 5
    assert "Error: The engine at http://127.0.0.1:9 cannot be reached" in ended.stderr


def test_a_model_that_the_engine_does_not_serve_is_refused(tmp_path: Path, engine: OpenAiServer) -> None:
    ended = run_openbook(tmp_path, "serve", "--port", "0", "--engine-url", engine.url, "--model", "smal@1")
    assert ended.returncode == 2
    assert "Did you mean 'small@1'" in ended.stderr


@pytest.mark.parametrize("option", [["--replicas", "2"], ["--engine-args", "--block-size 64"], ["--compile"]])
def test_options_for_engines_to_start_are_refused_where_all_run_elsewhere(
    tmp_path: Path, engine: OpenAiServer, option: list[str]
) -> None:
    ended = run_openbook(tmp_path, "serve", "--port", "0", "--engine-url", engine.url, *option)
    name = {"--compile": "COMPILE_MODEL"}.get(option[0], option[0].strip("-").replace("-", "_").upper())
    assert ended.returncode == 2
    assert f"OPENBOOK_{name}=" in ended.stderr


def test_a_misspelt_default_prompt_is_refused_before_the_server_runs(tmp_path: Path, engine: OpenAiServer) -> None:
    ended = run_openbook(tmp_path, "serve", "--port", "0", "--engine-url", engine.url, "--prompt", "worked_example")
    assert ended.returncode == 2
    assert "Did you mean 'worked_examples'" in ended.stderr
