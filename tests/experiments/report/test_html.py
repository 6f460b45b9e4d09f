from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.report.write import write_report
from experiments.results import Gate
from tests.experiments.report.html_page import SVG, HtmlPage, read_page
from tests.experiments.report.sample_run import RIGHT, rewrite_results, write_sample

HOSTILE = "<script>alert(1)</script> \" onload='x' &amp; </style> \x00 ]]>"


def test_the_verdict_is_the_one_heading_of_the_page_and_comes_before_the_charts(page: HtmlPage) -> None:
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    assert "".join(text for path, text in page.texts if "h1" in path).replace("\xa0", " ") == (
        "On 40 questions, retrieval answered 80 % and fine-tuning 45 %: retrieval is better by 35 points (95 % "
        "interval 14 to 56); fine-tuning also lost 80 points of general knowledge (90 % before, 10 % after)."
    )
    assert page.source.index("<h1") < page.source.index("accuracy-wide")


def test_every_arm_stands_in_the_accuracy_chart_with_its_value_and_interval(page: HtmlPage) -> None:
    for width in ("wide", "narrow"):
        chart = page.charts[f"accuracy-{width}"]
        texts = [text.text for text in chart.iterfind(".//svg:text", SVG)]
        assert set(RIGHT) <= set(texts)
        assert {"80\xa0%", "65–90"} <= set(texts)
        rows = chart.findall("svg:g", SVG)
        assert len(rows) == len(RIGHT)
        assert all(len(row.findall("svg:line[@class]", SVG)) >= 4 for row in rows)
        assert "rag: 80\xa0%, 95 % interval 65 to 90" in chart.findtext("svg:desc", "", SVG)


def test_arms_are_ordered_by_their_value(page: HtmlPage) -> None:
    names = [text for text in page.charts["accuracy-wide"].itertext() if text in RIGHT]
    assert names == ["oracle", "rag", "ft_rag", "ft", "wrong_corpus", "closed_book"]


def test_cost_forgetting_and_break_even_are_on_the_page(page: HtmlPage) -> None:
    assert {f"{chart}-{width}" for chart in ("accuracy", "cost", "forgetting", "break-even") for width in
            ("wide", "narrow")} == set(page.charts)  # fmt: skip
    assert "General knowledge fell from 90\xa0% to 10\xa0%" in page.text_of("h2")
    assert "even at 5,769 questions" in page.text
    assert "5,769" in page.text


def test_nothing_can_be_loaded_from_anywhere(page: HtmlPage) -> None:
    policies = [attributes["content"] for tag, attributes in page.tags if "Policy" in attributes.get("http-equiv", "")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert not {"script", "iframe", "img", "object", "embed", "form"} & {tag for tag, _ in page.tags}
    loaded = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "xlink:href", "data", "poster")
    ]
    assert all(value.startswith("#") or value == "data:," for value in loaded)
    assert "url(" not in page.source
    assert "@import" not in page.source


def test_links_on_the_page_lead_to_sections_that_exist(page: HtmlPage) -> None:
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for tag, attributes in page.tags if tag == "a"} <= set(ids)


def test_charts_and_tables_are_named_for_those_who_do_not_see_them(page: HtmlPage) -> None:
    for key, chart in page.charts.items():
        assert chart.get("role") == "img"
        assert chart.get("aria-labelledby") == f"{key}-title {key}-description"
        assert chart.findtext("svg:title", "", SVG)
        assert chart.findtext("svg:desc", "", SVG)
    tables = sum(tag == "table" for tag, _ in page.tags)
    assert tables == len(page.text_of("caption")) > 5


@pytest.mark.parametrize("where", ["verdict", "experiment", "command"])
def test_text_of_the_results_is_never_markup(run: Path, where: str) -> None:
    rewrite_results(run, **{where: HOSTILE})
    page = read_page(write_report(run)[0])
    assert "<script>alert(1)</script>" in page.text
    assert "script" not in {tag for tag, _ in page.tags}


def test_text_of_questions_answers_and_passages_is_never_markup(run: Path) -> None:
    for name in ("answers.jsonl", "corpora/main/questions.jsonl"):
        text = (run / name).read_text(encoding="utf-8")
        for honest in ("Morning Bell", "Selkie", "Grey Heron", "lamp oil", "captain"):
            text = text.replace(honest, "<script>alert(1)</script></svg></style><img src=x onerror=y>")
        (run / name).write_text(text, encoding="utf-8")
    page = read_page(write_report(run)[0])
    assert "<script>alert(1)</script></svg></style>" in page.text
    assert not {"script", "img"} & {tag for tag, _ in page.tags}


def test_a_failed_gate_is_announced_above_the_verdict(run: Path) -> None:
    assert "do not rely" not in read_page(write_report(run)[0]).text
    gates = (Gate(name="corpus_parity", passed=False, detail="Two documents are missing."),
             Gate(name="leakage", passed=True, detail="None."))  # fmt: skip
    rewrite_results(run, gates=gates)
    page = read_page(write_report(run)[0])
    assert "✗ 1 check of 2 failed: do not rely on these figures" in page.text
    assert page.source.index("Two documents are missing.") < page.source.index("<h1")


def test_a_run_without_fine_tuning_says_so_and_draws_no_break_even(tmp_path: Path) -> None:
    write_sample(tmp_path, arms=("closed_book", "rag", "oracle"))
    page = read_page(write_report(tmp_path)[0])
    assert {key.rsplit("-", 1)[0] for key in page.charts} == {"accuracy", "cost"}
    assert "Nothing was fine-tuned in this run, so nothing could be forgotten" in page.text
    assert "Fine-tuned" not in page.text_of("dt")


def test_an_arm_that_answered_nothing_is_last_and_called_not_scored(run: Path) -> None:
    results = write_sample(run)
    mute = results.arms["oracle"].model_copy(update={"scored": 0, "metrics": {}})
    rewrite_results(run, arms={**results.arms, "oracle": mute})
    page = read_page(write_report(run)[0])
    texts = [text for text in page.charts["accuracy-wide"].itertext() if text in RIGHT or text == "not scored"]
    assert texts[-2:] == ["oracle", "not scored"]
    assert "oracle" not in list(page.charts["cost-wide"].itertext())


def test_a_run_in_which_nothing_was_scored_still_has_a_report(run: Path) -> None:
    results = write_sample(run)
    mute = {name: arm.model_copy(update={"scored": 0, "metrics": {}}) for name, arm in results.arms.items()}
    rewrite_results(run, arms=mute, contrasts=(), trials={})
    page = read_page(write_report(run)[0])
    assert "No question could be scored" in page.text_of("h2")
    assert "was not measured in this run" in page.text


def test_one_arm_and_one_question_are_enough(tmp_path: Path) -> None:
    write_sample(tmp_path, arms=("rag",), questions=1)
    page = read_page(write_report(tmp_path)[0])
    assert "rag was right on 100\xa0% of the questions" in page.text_of("h2")
    assert "This run compares no arms." in page.text


def test_a_long_name_is_cut_in_charts_and_whole_in_tables(run: Path) -> None:
    results, name = write_sample(run), "dense_retrieval_" * 12
    rewrite_results(run, arms={name: results.arms["rag"], "ft": results.arms["ft"]}, contrasts=())
    page = read_page(write_report(run)[0])
    drawn = page.charts["accuracy-narrow"].findall(".//svg:text", SVG)
    assert any(re.fullmatch(r"dense_retrieval_.*…", text.text or "") for text in drawn)
    assert name in page.text_of("span")


def test_where_no_price_is_given_costs_are_machine_time(run: Path) -> None:
    results = write_sample(run)
    rewrite_results(run, cost=results.cost.model_copy(update={"price_per_hour": 0.0}))
    page = read_page(write_report(run)[0])
    assert "No price for a machine hour was given, so costs are machine time." in page.text
    assert "USD" not in page.text
    # rag: 4.2 s of indexing and 110 s for a thousand questions.
    assert "rag costs 1 min 54 s" in page.text


def test_a_trial_that_measured_bare_numbers_is_drawn_without_an_interval(run: Path) -> None:
    results = write_sample(run)
    bare = results.trials["forgetting"].model_copy(update={"measured": {"before": 0.9, "after": 0.9}})
    rewrite_results(run, trials={"forgetting": bare})
    page = read_page(write_report(run)[0])
    assert "General knowledge stayed at 90\xa0%" in page.text_of("h2")
    assert not page.charts["forgetting-wide"].findall(".//svg:line[@class='whisker tuned']", SVG)
