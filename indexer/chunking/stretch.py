"""Stretches of a text that neither start nor end with white space."""

from __future__ import annotations


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends of a stretch inwards over white space."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def halves(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a stretch in the middle; a half of white space alone is left out."""
    middle = (start + end) // 2
    both = (trimmed(text, start, middle), trimmed(text, middle, end))
    return [half for half in both if half[0] < half[1]]
