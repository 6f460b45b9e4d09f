"""Files into documents, or a reason why not."""

from __future__ import annotations

import codecs
import contextlib
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.loading import load_corpus
from indexer.parsing import PARSERS
from indexer.parsing.encodings import decode
from indexer.parsing.limits import ParsingLimits
from indexer.parsing.source import NotText, NotThisFormat, Parsed, SourceFile, Unparsable, Unreadable


def parse(path: Path, content: bytes | str) -> list[Parsed | Unreadable]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(PARSERS[path.suffix](SourceFile(path, path.name), ParsingLimits()))


def test_front_matter_says_what_is_known_about_a_markdown_document(tmp_path):
    content = (
        "---\ntitle: Leave\neffective: 2024-05-01\nauthority: 2\nsupersedes: old.md\n"
        "tags: [a, ü]\nowner: Ana\nsince: 2020-01-02\nempty:\n---\n\n# Annual leave\n\nThirty days.\n"
    )
    (parsed,) = parse(tmp_path / "leave.md", content)
    document = parsed.document
    assert document.id == "leave.md"
    assert document.text == "# Annual leave\n\nThirty days."
    assert (document.title, document.effective, document.authority) == ("Leave", date(2024, 5, 1), 2)
    assert document.supersedes == "old.md"
    assert document.metadata == {"tags": '["a", "ü"]', "owner": "Ana", "since": "2020-01-02"}


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Annual leave #\n\ntext", "Annual leave"),
        ("Annual leave\n===\n\ntext", "Annual leave"),
        ("text\n\n## Later", "Later"),
        ("```\n# code\n```\n", "file"),
        ("just text", "file"),
        ("---\nA rule, and no front matter\n\n---\n# Real", "Real"),
        ("---\n---\n# After nothing", "After nothing"),
    ],
)
def test_the_title_of_markdown_is_its_first_heading_else_the_name_of_the_file(tmp_path, content, title):
    (parsed,) = parse(tmp_path / "file.md", content)
    assert parsed.document.title == title


@pytest.mark.parametrize(
    ("front_matter", "reason"),
    [
        ("title: [", "front matter in line 3"),
        ("effective: someday", "effective"),
        ("effective: 2024-02-31", "front matter: "),
        ("authority: -1", "authority"),
        ("a: &a [x, x]\nb: [*a, *a]", "aliases"),
        ('title: "\\ud800"', "front matter"),
        ("title: " + "[" * 5000, "front matter"),
    ],
)
def test_front_matter_that_cannot_be_understood_is_a_reason(tmp_path, front_matter, reason):
    with pytest.raises(NotText, match=reason):
        parse(tmp_path / "file.md", f"---\n{front_matter}\n---\ntext")


@pytest.mark.parametrize(
    "content",
    [
        "кассовый разрыв\nзавтра\n".encode(),
        codecs.BOM_UTF8 + "кассовый разрыв\r\nзавтра\r\n".encode(),
        codecs.BOM_UTF16_LE + "кассовый разрыв\nзавтра\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "кассовый разрыв\rзавтра\r".encode("utf-16-be"),
    ],
)
def test_byte_order_marks_and_line_ends_do_not_show_in_the_text(tmp_path, content):
    (parsed,) = parse(tmp_path / "a.txt", content)
    assert parsed.document.text == "кассовый разрыв\nзавтра"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"foo\0bar", "NUL at byte 3"),
        ("utf-16 without a mark".encode("utf-16-le"), "NUL"),
        (codecs.BOM_UTF16_LE + b"a", "not UTF-16 text"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "holds a PDF"),
        (b"\xfe\xff\0a\0\0", "NUL at character 1"),
        (b"caf\xe9 \x01\x02", "control characters"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_a_reason(tmp_path, content, reason):
    with pytest.raises(Unparsable, match=reason):
        parse(tmp_path / "a.txt", content)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(lambda t: t[:1] != "\ufeff"))
def test_every_text_survives_every_encoding_that_is_read(text):
    assert decode(codecs.BOM_UTF8 + text.encode()) == (text, ())
    for encoding in ("utf-16", "utf-32"):
        for order, mark in (("le", codecs.BOM_UTF16_LE), ("be", codecs.BOM_UTF16_BE)):
            marked = (mark if encoding == "utf-16" else "\ufeff".encode(f"utf-32-{order}")) + text.encode(
                f"{encoding}-{order}"
            )
            assert decode(marked) == (text, ())
    with contextlib.suppress(NotThisFormat):
        assert decode(text.encode()) == (text, ())


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(content):
    with contextlib.suppress(Unparsable):
        decode(content)


@given(st.randoms(use_true_random=False))
def test_a_kilobyte_of_random_bytes_is_never_text(random):
    with pytest.raises(Unparsable):
        decode(random.randbytes(1024))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("café", "latin-1"),
        ("Grüße aus München, die Straße ist “schön”.", "cp1252"),
        ("Кассовый разрыв возникает, когда платежи опережают поступления.", "cp1251"),
        ("Кассовый разрыв возникает, когда платежи опережают поступления.", "koi8-r"),
        ("Zażółć gęślą jaźń, proszę pana. Wczoraj byłem w Łodzi.", "cp1250"),
        ("これは日本語の文章です。吾輩は猫である。名前はまだ無い。", "shift_jis"),
        ("床前明月光，疑是地上霜。举头望明月，低头思故乡。", "gb18030"),
        ("a" * 3000 + " é", "latin-1"),
    ],
)
def test_other_encodings_are_detected_and_noted(tmp_path, text, encoding):
    (parsed,) = parse(tmp_path / "a.txt", text.encode(encoding))
    assert parsed.document.text == text
    assert "not UTF-8: read as" in parsed.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        b"# " + b" " * 200_000 + b"x",
        b"#" * 200_000 + b" x",
        b"# " + b"# " * 100_000 + b"x",
        b"| a |\n|" + b"-" * 200_000 + b"x",
        b"| a |\n|" + b"- " * 100_000 + b"|",
        b"a" * 1_000_000 + b"\n" + b"caf\xe9" * 10_000,
        b"---\n" * 50_000,
        b"\n" * 500_000,
    ],
    ids=range(8),
)
def test_no_text_takes_longer_than_its_length_allows(tmp_path, content):
    started = time.process_time()
    with contextlib.suppress(Unparsable):
        parse(tmp_path / "a.md", content)
    assert time.process_time() - started < 5


def test_a_character_cut_in_two_does_not_make_utf_8_another_encoding(tmp_path):
    (parsed,) = parse(tmp_path / "a.txt", ("Grüße " * 40 + "ü").encode()[:-1])
    assert parsed.document.text == "Grüße " * 40 + "\ufffd"
    assert parsed.notes == ("1 places are not UTF-8: replaced by \ufffd",)


def test_documents_of_a_corpus_are_read_as_the_corpus_loads_them():
    root = Path(__file__).parents[3] / "corpus" / "lormar"
    for expected in load_corpus(root).documents:
        path = root / "documents" / expected.id
        (parsed,) = PARSERS[path.suffix](SourceFile(path, expected.id), ParsingLimits())
        assert parsed.document.model_copy(update={"metadata": {}}) == expected.model_copy(update={"metadata": {}})


def test_a_bad_line_of_jsonl_is_reported_and_the_others_are_read(tmp_path):
    content = (
        '{"id": "a", "text": "one", "authority": 3}\r\n'
        "{bad\n"
        "\n"
        '{"id": "b", "text": "two", "authority": -1}\n'
        '{"id": "a", "text": "again"}\n'
        '{"id": "n", "text": "nul \\u0000"}\n'
        '{"id": "s", "text": "half \\ud800"}\n'
        '{"id": "no text"}\n'
        '["text"]\n'
        '{"id": ["x"], "text": "a list for an id"}\n' + "[" * 100_000 + "\n"
        '{"id": "c", "text": "three\u2028still three"}'
    )
    parsed = parse(tmp_path / "a.jsonl", content)
    assert [one.document.id for one in parsed if isinstance(one, Parsed)] == ["a", "c"]
    bad = {one.line: one.reason for one in parsed if isinstance(one, Unreadable)}
    assert list(bad) == [2, 4, 5, 6, 7, 8, 9, 10, 11]
    assert "authority" in bad[4]
    assert "taken by line 1" in bad[5]
    assert "NUL" in bad[6]
    assert "surrogate" in bad[7]
    assert bad[8] == "text: missing"


def test_two_documents_and_one_error_come_of_three_lines_without_ids(tmp_path):
    parsed = parse(tmp_path / "a.jsonl", '{"text":"a"}\n{bad\n\n{"text":"b"}')
    assert [one.document.text for one in parsed if isinstance(one, Parsed)] == ["a", "b"]
    assert [one.document.id for one in parsed if isinstance(one, Parsed)] == ["a.jsonl:1", "a.jsonl:4"]
    assert [one.line for one in parsed if isinstance(one, Unreadable)] == [2]


def test_fields_of_jsonl_that_have_no_name_here_become_metadata(tmp_path):
    content = (
        '{"_id": 7, "text": "x", "title": "T", "team": "a", "year": 2024, "metadata": {"team": "b", "tags": ["u"]}}'
    )
    (parsed,) = parse(tmp_path / "a.jsonl", content)
    assert (parsed.document.id, parsed.document.title) == ("7", "T")
    assert parsed.document.metadata == {"team": "a", "year": "2024", "tags": '["u"]'}


def test_a_line_of_jsonl_that_is_too_long_is_refused_and_the_next_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "' + "x" * 200_000 + '"}\n{"text": "short"}\n')
    long, short = PARSERS[".jsonl"](SourceFile(path, "a.jsonl"), ParsingLimits(line_bytes=100_000))
    assert (long.line, long.size) == (1, 200_013)
    assert "a line of more than" in long.reason
    assert short.document.text == "short"


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        (
            "Before\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter",
            "| a | b |\n|---|:-:|\n",
            "| 1 | 2 |\n| 3 | 4 |",
        ),
        ("a | b\n--|--\n1 | 2", "a | b\n--|--\n", "1 | 2"),
        ("```\n| a |\n|---|\n| 1 |\n```", None, None),
        ("| a |\n|---|", None, None),
        ("| a |\n\n|---|\n| 1 |", None, None),
        ("Title\n---\n| 1 |", None, None),
    ],
)
def test_tables_of_markdown_are_known_with_their_headers(tmp_path, text, header, rows):
    (parsed,) = parse(tmp_path / "a.md", text)
    found = [(text[table.start : table.body], text[table.body : table.end]) for table in parsed.tables]
    assert found == ([] if header is None else [(header, rows)])


def test_a_line_of_jsonl_in_another_encoding_spoils_no_other(tmp_path):
    parsed = parse(tmp_path / "a.jsonl", b'{"id":"a","text":"one"}\n{"id":"b","text":"caf\xe9"}\n{"id":"c","text":"x"}')
    assert [type(one) for one in parsed] == [Parsed, Unreadable, Parsed]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_jsonl_may_begin_with_a_byte_order_mark(tmp_path, encoding):
    (parsed,) = parse(tmp_path / "a.jsonl", '{"id":"a","text":"é"}\n'.encode(encoding))
    assert parsed.document.text == "é"
