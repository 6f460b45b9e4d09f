"""The command `openbook keys`: the API keys of the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from terminal import note

if TYPE_CHECKING:
    from app.access.key import Key, ScopeName

json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON for a program instead of text.")


@click.group()
def keys() -> None:
    """Make, list and revoke the API keys of the server.

    They are kept, as hashes, in keys.json in $OPENBOOK_HOME. From the first key on every server of that home lets in
    only those who send one: Authorization: Bearer KEY. A running server sees each change at its next request.
    """


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["read", "write", "admin"]),
    multiple=True,
    default=["read"],
    show_default=True,
    help="read: ask and look; write: change documents, without reading; admin: everything. Repeatable.",
)
@click.option(
    "--collection", "collections", multiple=True, help="Limit it to this collection; repeatable. All by default."
)
@click.option("--requests-per-minute", type=click.IntRange(min=1), help="A limit of its own in place of the server's.")
@json_option
def create(
    name: str,
    *,
    scopes: tuple[ScopeName, ...],
    collections: tuple[str, ...],
    requests_per_minute: int | None,
    as_json: bool,
) -> None:
    """Make a key called NAME and print its secret, which is shown this once."""
    from app.access.keyring import create_key
    from corpus.home import keys_home

    key, secret = create_key(keys_home(), name, scopes, collections or None, requests_per_minute)
    if as_json:
        click.echo(json.dumps({**_shown(key), "secret": secret}))
        return
    click.echo(secret)
    note(f"The key {key.name!r}: {_may(key)}. Keep the line above; it cannot be shown again.")


@keys.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the keys, the revoked ones too."""
    from app.access.keyring import read_keys
    from corpus.home import keys_home

    found = read_keys(keys_home())
    if as_json:
        click.echo(json.dumps([_shown(key) for key in found], indent=2))
        return
    if not found:
        note("There are no keys, so the server asks nobody who they are. `openbook keys create NAME` makes one.")
    for key in found:
        state = f"revoked {key.revoked:%Y-%m-%d}" if key.revoked else f"made {key.created:%Y-%m-%d}"
        click.echo(f"{key.name}  {key.id}  {_may(key)}  {state}")


@keys.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke the key called NAME, or of that id: no server takes it any more.

    When all keys are revoked, servers let nobody in. To ask nobody for a key again, remove keys.json and restart them.
    """
    from app.access.keyring import read_keys, revoke_key
    from corpus.home import keys_home

    key = revoke_key(keys_home(), name)
    click.echo(f"Revoked {key.name} ({key.id}).")
    if all(each.revoked for each in read_keys(keys_home())):
        note("No key is left: servers let nobody in until you make another.")


def _may(key: Key) -> str:
    where = "all collections" if key.collections is None else ", ".join(key.collections)
    rate = f", {key.requests_per_minute} requests a minute" if key.requests_per_minute else ""
    return f"{'+'.join(key.scopes)} on {where}{rate}"


def _shown(key: Key) -> dict[str, object]:
    """Return what may be shown of a key: all but its hash."""
    return key.model_dump(mode="json", exclude={"sha256"})
