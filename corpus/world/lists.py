"""Word lists, written as text so that they stay easy to read and to extend."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """Split a list written with commas, over any number of lines. An empty entry stays out."""
    return tuple(entry for entry in (" ".join(part.split()) for part in text.split(",")) if entry)
