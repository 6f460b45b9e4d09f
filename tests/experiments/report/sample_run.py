"""A finished run in a folder, made by code: 40 questions about ten ships, six arms and a panel, like a real one.

What each arm gets right is fixed by arithmetic on the question's number, so the expected figures can be counted by
hand: rag misses every fifth question (search misses every tenth), ft is right on 18 of 40.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from app.schemas.answer import Answer, Timing, Usage
from app.schemas.passage import Passage
from corpus.schema import Question
from experiments.records import AnswerRecord, ScoreRecord
from experiments.results import (
    ArmCost,
    ArmResult,
    Contrast,
    CorpusSummary,
    CostSummary,
    Estimate,
    Gate,
    Latency,
    Results,
    Tokens,
    Trial,
)
from experiments.run_data import BASE, FINETUNED

BASE_LABEL, TUNED_LABEL = "smollm2-135m-instruct@1", "lantern-isles@1"
SHIPS = ("Grey Heron", "Salt Maiden", "Lantern", "Old Tobias", "Kittiwake", "Morning Bell", "Selkie", "Patience",
         "Ninth Wave", "Corncrake")  # fmt: skip
FACTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "captain": ("Who is the captain of the {}?", ("Ilsa Morrow", "Bram Teale", "Oda Finch", "Jory Pell", "Wen Carrow",
                "Tam Hollis", "Ruth Sable", "Emil Thorne", "Nell Varga", "Otto Quill")),
    "berth": ("At which berth does the {} lie?", ("12", "3", "7", "21", "9", "16", "5", "18", "2", "14")),
    "cargo": ("What does the {} carry?", ("lamp oil", "salt cod", "slate", "wool", "barley", "tin", "peat",
              "rope", "honey", "glass")),
    "year": ("In which year was the {} built?", ("1874", "1902", "1861", "1899", "1911", "1888", "1893", "1907", "1868",
             "1915")),
}  # fmt: skip
PANEL = (
    ("What is the capital of France?", "Paris"), ("How many legs does a spider have?", "Eight"),
    ("What is the chemical symbol for water?", "H2O"), ("Which planet is known as the red planet?", "Mars"),
    ("How many days are there in a week?", "Seven"), ("What colour is the sky on a clear day?", "Blue"),
    ("Who wrote Romeo and Juliet?", "William Shakespeare"), ("What is the largest ocean?", "The Pacific Ocean"),
    ("What is the opposite of hot?", "Cold"), ("How many months are there in a year?", "Twelve"),
)  # fmt: skip
RIGHT: dict[str, Callable[[int], bool]] = {
    "closed_book": lambda number: False,
    "rag": lambda number: number % 5 != 3,
    "oracle": lambda number: number % 8 != 3,
    "wrong_corpus": lambda number: number == 17,
    "ft": lambda number: number % 5 in (0, 4) or number % 20 == 8,
    "ft_rag": lambda number: number % 10 not in (3, 7),
}
"""Whether an arm answers the question of that number correctly."""
RETRIEVES = {"rag": "dense", "oracle": "oracle", "wrong_corpus": "dense", "ft_rag": "dense"}


def write_sample(run: Path, arms: Sequence[str] = tuple(RIGHT), questions: int = 40) -> Results:
    """Write the inputs of a report into the folder and return the figures in it."""
    asked = sample_questions()[:questions]
    answers = [answer_record(arm, number, question) for arm in arms for number, question in enumerate(asked)]
    scores = [score_record(record, asked[index % len(asked)]) for index, record in enumerate(answers)]
    if "ft" in arms:
        panel = [panel_record(arm, number) for arm in (BASE, FINETUNED) for number in range(len(PANEL))]
        answers += panel
        scores += [panel_score(record) for record in panel]
    results = sample_results(arms, len(asked))
    (run / "corpora" / "main").mkdir(parents=True, exist_ok=True)
    (run / "results.json").write_text(results.model_dump_json(indent=1), encoding="utf-8")
    for name, lines in (
        ("answers.jsonl", answers),
        ("scores.jsonl", scores),
        ("corpora/main/questions.jsonl", asked),
    ):
        (run / name).write_text("".join(line.model_dump_json() + "\n" for line in lines), encoding="utf-8")
    return results


def rewrite_results(run: Path, **changes: object) -> Results:
    """Replace fields of the figures in the folder."""
    path = run / "results.json"
    results = Results.model_validate_json(path.read_text(encoding="utf-8")).model_copy(update=changes)
    path.write_text(results.model_dump_json(), encoding="utf-8")
    return results


def sample_questions() -> list[Question]:
    return [
        Question(
            id=f"{fact}-{ship}",
            question=wording.format(SHIPS[ship]),
            answers=(answers[ship],),
            document_ids=(document_id(ship),),
            fact_id=f"{fact}-{ship}",
        )
        for ship in range(len(SHIPS))
        for fact, (wording, answers) in FACTS.items()
    ]


def document_id(ship: int) -> str:
    return f"ships/{SHIPS[ship].lower().replace(' ', '-')}.md"


def document_text(ship: int) -> str:
    captain, berth, cargo, year = (answers[ship] for _, answers in FACTS.values())
    return (
        f"The {SHIPS[ship]}, built in {year}, lies at berth {berth} of the inner harbour. She sails under captain "
        f"{captain} and carries {cargo} between the islands from spring to the first storms."
    )


def answer_record(arm: str, number: int, question: Question) -> AnswerRecord:
    ship = number // len(FACTS)
    right = RIGHT[arm](number)
    said = question.answers[0] if right else _wrong(arm, number)
    text = f"{said}." if arm == "closed_book" or number % 3 else said
    return AnswerRecord(
        arm=arm,
        set="test",
        question_id=question.id,
        answer=_answer(arm, question.question, text, _passages(arm, number, ship)),
        latency_ms=float(80 + number),
    )


def _wrong(arm: str, number: int) -> str:
    if arm in ("closed_book", "wrong_corpus"):
        return "I am not sure which ship you mean"
    answers = list(FACTS.values())[number % len(FACTS)][1]
    return answers[(number // len(FACTS) + 3) % len(SHIPS)]


def _passages(arm: str, number: int, ship: int) -> tuple[Passage, ...]:
    if arm not in RETRIEVES:
        return ()
    if arm == "oracle":
        return (_passage(1, ship, 1.0),)
    if arm == "wrong_corpus":
        return (_passage(1, 10, 0.31), _passage(2, 11, 0.28))
    first = (ship + 1) % len(SHIPS) if number % 10 == 3 else ship
    return (_passage(1, first, 0.78), _passage(2, (ship + 4) % len(SHIPS), 0.55))


def _passage(label: int, ship: int, score: float) -> Passage:
    other = ship >= len(SHIPS)
    text = "The guild of bakers meets on the second Tuesday of every month." if other else document_text(ship)
    source = "guilds/bakers.md" if other else document_id(ship)
    title = "The bakers' guild" if other else f"The {SHIPS[ship]}"
    return Passage(
        label=label, id=ship + 1, document_id=source, title=title, source=source, text=text, start=0, end=len(text),
        score=score,
    )  # fmt: skip


def _answer(arm: str, question: str, text: str, passages: tuple[Passage, ...]) -> Answer:
    retriever = RETRIEVES.get(arm, "none")
    return Answer(
        id=f"ans-{arm}",
        question=question,
        answer=text,
        citations=(),
        passages=passages,
        checkpoint=TUNED_LABEL if arm in ("ft", "ft_rag", FINETUNED) else BASE_LABEL,
        retriever="given" if retriever == "oracle" else retriever,
        prompt="passages@1" if passages else "closed_book@1",
        collection="other" if arm == "wrong_corpus" else "main",
        index_generation=1 if passages else None,
        finish_reason="stop",
        usage=Usage(prompt_tokens=152 if passages else 41, completion_tokens=6),
        timing=Timing(search_ms=9.0, generate_ms=70.0, total_ms=80.0),
    )


def score_record(record: AnswerRecord, question: Question) -> ScoreRecord:
    assert record.answer is not None
    right = question.answers[0] in record.answer.answer
    scores = {"contains_answer": float(right), "exact_match": float(right), "token_f1": float(right)}
    if record.answer.passages:
        found = any(passage.document_id in question.document_ids for passage in record.answer.passages)
        scores["retrieval_recall"] = float(found)
    return ScoreRecord(arm=record.arm, set="test", question_id=question.id, scores=scores)


def panel_record(arm: str, number: int) -> AnswerRecord:
    question, answer = PANEL[number]
    right = number != 7 if arm == BASE else number == 4
    text = answer if right else ("lamp oil" if arm == FINETUNED else "The Atlantic")
    return AnswerRecord(arm=arm, set="panel", question_id=f"panel-{number}", answer=_answer(arm, question, text, ()))


def panel_score(record: AnswerRecord) -> ScoreRecord:
    assert record.answer is not None
    right = record.answer.answer in [answer for _, answer in PANEL]
    scores = {"contains_answer": float(right)}
    return ScoreRecord(arm=record.arm, set="panel", question_id=record.question_id, scores=scores)


def sample_results(arms: Sequence[str], questions: int) -> Results:
    return Results(
        experiment="lantern-isles",
        created="2026-11-29T21:04:11+00:00",
        command="openbook experiment run experiments/specs/demo.yaml",
        primary_metric="contains_answer",
        verdict="On 40 questions, retrieval answered 80 % and fine-tuning 45 %: retrieval is better by 35 points (95 % "
        "interval 14 to 56); fine-tuning also lost 80 points of general knowledge (90 % before, 10 % after).",
        environment={"openbook": "0.1.0", "python": "3.11.9", "vllm": "0.32.0", "machine": "2 cores x86-64, 24 GiB"},
        corpus=CorpusSummary(name="lantern-isles", documents=60, questions=questions, hash="5f2c9a" + "0" * 58),
        arms={arm: sample_arm(arm, questions) for arm in arms},
        contrasts=sample_contrasts(arms, questions),
        gates=(
            Gate(name="same_documents", passed=True, detail="Index and training set hold the same 60 documents."),
            Gate(name="answers_unknown", passed=True, detail="The base model knows 0 % of the answers from memory."),
            Gate(name="questions_answered", passed=True, detail="Every arm answered every question."),
        ),
        trials={"forgetting": sample_forgetting()} if "ft" in arms else {},
        cost=CostSummary(
            currency="USD",
            price_per_hour=0.10,
            indexing_seconds=4.2,
            training_seconds=408.0 if "ft" in arms else None,
            break_even_questions=5768.6 if "ft" in arms else None,
            break_even_note="ft costs more at once and less for each question than rag: it is the cheaper one in all "
            "after 5,769 questions, as long as the documents do not change."
            if "ft" in arms
            else "Nothing was fine-tuned.",
        ),
    )


def sample_arm(arm: str, questions: int) -> ArmResult:
    right = sum(map(RIGHT[arm], range(questions)))
    retrieves, tuned = arm in RETRIEVES, arm.startswith("ft")
    metrics = {name: wilson(right, questions) for name in ("contains_answer", "exact_match", "token_f1")}
    if retrieves:
        found = sum(number % 10 != 3 for number in range(questions)) if arm in ("rag", "ft_rag") else questions
        metrics["retrieval_recall"] = wilson(0 if arm == "wrong_corpus" else found, questions)
    one_off = (4.2 if retrieves else 0.0) + (408.0 if tuned else 0.0)
    serving = 110.0 if arm in ("rag", "ft_rag", "wrong_corpus") else 72.0 if arm == "oracle" else 40.0
    return ArmResult(
        checkpoint=TUNED_LABEL if tuned else BASE_LABEL,
        retriever=RETRIEVES.get(arm, "none"),
        prompt="passages@1" if retrieves else "closed_book@1",
        top_k=1 if arm == "oracle" else 2,
        collection="other" if arm == "wrong_corpus" else "main",
        n=questions,
        scored=questions,
        metrics=metrics,
        latency_ms=Latency(p50=96.0 if retrieves else 61.0, p95=184.0 if retrieves else 97.0),
        tokens=Tokens(prompt=152.3 if retrieves else 41.0, completion=6.2),
        cost=ArmCost(
            one_off_seconds=one_off,
            one_off_money=one_off * 0.10 / 3600,
            seconds_per_1000_questions=serving,
            money_per_1000_questions=serving * 0.10 / 3600,
            training_seconds=408.0 if tuned else None,
            training_peak_bytes=1_540_000_000 if tuned else None,
        ),
    )


def sample_contrasts(arms: Sequence[str], questions: int) -> tuple[Contrast, ...]:
    pairs = [("rag", "ft"), ("ft_rag", "rag"), ("oracle", "rag"), ("rag", "closed_book"), ("wrong_corpus", "rag")]
    return tuple(
        sample_contrast(a, b, questions, primary=index == 0)
        for index, (a, b) in enumerate(pair for pair in pairs if set(pair) <= set(arms))
    )


def sample_contrast(a: str, b: str, questions: int, primary: bool) -> Contrast:
    a_only = sum(RIGHT[a](number) and not RIGHT[b](number) for number in range(questions))
    b_only = sum(RIGHT[b](number) and not RIGHT[a](number) for number in range(questions))
    discordant, difference = a_only + b_only, (a_only - b_only) / questions
    half = 1.96 * math.sqrt(max(discordant, 1)) / questions
    tail = sum(math.comb(discordant, k) for k in range(min(a_only, b_only) + 1)) / 2**discordant
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    word = "better" if low > 0 else "worse" if high < 0 else "underpowered"
    return Contrast(
        a=a, b=b, metric="contains_answer", n=questions, difference=difference, low=low, high=high,
        p=min(1.0, 2 * tail), a_only=a_only, b_only=b_only, mde=2.8 * math.sqrt(max(discordant, 1)) / questions,
        verdict=word, primary=primary, p_adjusted=None if primary else min(1.0, 3 * tail),
    )  # fmt: skip


def sample_forgetting() -> Trial:
    return Trial(
        claim="Fine-tuning on the documents costs no general knowledge.",
        measured={
            "before": wilson(9, 10),
            "after": wilson(1, 10),
            "difference": Estimate(value=-0.8, low=-1.0, high=-0.5),
        },
        expected="The interval of the difference lies above -5 points.",
        verdict="forgotten",
    )


def wilson(right: int, n: int) -> Estimate:
    """Wilson's interval, written out here so that the fixture rests on nothing it tests."""
    p, z = right / n, 1.96
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return Estimate(value=p, low=max(0.0, (centre - half) / scale), high=min(1.0, (centre + half) / scale))
