from __future__ import annotations

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus import front_matter

KEY = st.from_regex(r"[a-z_]{2,8}", fullmatch=True).filter(lambda key: key not in ("on", "off", "no", "yes"))
VALUE = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20) | st.sampled_from(
    [
        "true",
        "No",
        "null",
        "~",
        "12",
        "012",
        "1871-05-02",
        "1871-02-31",
        "a: b",
        "a #b",
        "- a",
        " a ",
        "'a'",
        '"a"',
        "a\nb",
        "",
        "[x]",
        "é",
    ]
)
TEXT = st.text("abc -:#\n", max_size=30).map(lambda text: text.strip("\n"))


@settings(deadline=None)
@given(st.dictionaries(KEY, VALUE, max_size=4), TEXT)
def test_what_is_joined_is_split_again(fields, text):
    parts = front_matter.split(front_matter.join(fields, text))
    assert (parts.fields, parts.text) == (fields, text)


@settings(deadline=None)
@given(st.dictionaries(KEY, VALUE.filter(str.isprintable), min_size=1, max_size=4))
def test_the_block_is_yaml_that_says_the_same(fields):
    block = front_matter.join(fields, "text").split("---")[1]
    read = yaml.safe_load(block)
    assert {key: str(value) for key, value in read.items()} == fields


def test_a_field_knows_its_line():
    parts = front_matter.split("---\ntitle: a\n\n# comment\nauthority: 3\n---\ntext\n")
    assert parts.lines == {"title": 2, "authority": 5}


def test_only_a_fence_on_the_first_line_opens_a_block():
    source = "\n---\ntitle: a\n---\ntext"
    assert front_matter.split(source).fields == {}
    assert front_matter.split(source).text == "---\ntitle: a\n---\ntext"
