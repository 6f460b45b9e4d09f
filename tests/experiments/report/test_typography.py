from __future__ import annotations

from experiments.report.typography import highlight, unbroken


def test_an_accepted_answer_is_marked_in_either_case_and_only_as_a_whole_word() -> None:
    assert highlight("Berth 12, not 121. OIL boils.", ["12", "oil"]) == (
        "Berth <mark>12</mark>, not 121. <mark>OIL</mark> boils."
    )


def test_the_longest_spelling_is_marked() -> None:
    assert highlight("captain Ida Brook", ["Ida", "Ida Brook"]) == "captain <mark>Ida Brook</mark>"


def test_the_text_around_and_inside_a_mark_is_escaped() -> None:
    assert highlight("<b> a&b </b>", ["a&b"]) == "&lt;b&gt; <mark>a&amp;b</mark> &lt;/b&gt;"
    assert highlight("<b>", [" "]) == "&lt;b&gt;"


def test_numbers_and_short_hyphenated_words_stay_in_one_piece() -> None:
    assert unbroken("91 % by fine-tuning & <b>") == (
        '91\xa0% by <span class="whole">fine-tuning</span> &amp; &lt;b&gt;'
    )
