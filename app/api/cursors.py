"""Cursors: where the next page of a list begins, in a form that says nothing to a client."""

from __future__ import annotations

import base64
import binascii
import json

from app.errors import CursorRefused


def encode(of: str, position: str | int) -> str:
    """Return the cursor behind a position of the list `of`."""
    return base64.urlsafe_b64encode(json.dumps([of, position]).encode()).decode().rstrip("=")


def decode_text(of: str, cursor: str) -> str:
    """Return the position of a list in the order of texts.

    Raises:
        CursorRefused: It is no cursor of that list.
    """
    position = _decode(of, cursor)
    if not isinstance(position, str):
        raise _refused(cursor)
    return position


def decode_number(of: str, cursor: str) -> int:
    """Return the position of a list in the order of numbers.

    Raises:
        CursorRefused: It is no cursor of that list.
    """
    position = _decode(of, cursor)
    if not isinstance(position, int) or not 0 <= position < 2**63:
        raise _refused(cursor)
    return position


def _decode(of: str, cursor: str) -> object:
    try:
        padded = cursor.encode() + b"=" * (-len(cursor) % 4)
        list_, position = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, RecursionError, binascii.Error) as error:
        raise _refused(cursor) from error
    if list_ != of:
        raise _refused(cursor)
    if isinstance(position, str):
        try:
            position.encode()
        except UnicodeEncodeError as error:
            raise _refused(cursor) from error
    return position


def _refused(cursor: str) -> CursorRefused:
    return CursorRefused(
        f"{cursor[:60]!r} is no cursor of this list. Take `next_cursor` of the page before as it is, or leave it "
        "out to begin at the first page."
    )
