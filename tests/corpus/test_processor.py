"""What the processor is called, and whether it has units for bfloat16."""

from pathlib import Path

import pytest

from corpus.processor import has_bfloat16_units, processor_name

SAPPHIRE_RAPIDS = "processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu sse2 avx2 avx512f avx512_bf16 amx_bf16\n"
MILAN = "processor\t: 0\nmodel name\t: AMD EPYC bf16\nflags\t\t: fpu sse2 avx2 fma\nbugs\t\t: bf16\n"
GRAVITON_3 = "processor\t: 0\nFeatures\t: fp asimd sve bf16 i8mm\n"
GRAVITON_2 = "processor\t: 0\nFeatures\t: fp asimd\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(SAPPHIRE_RAPIDS, True), (MILAN, False), (GRAVITON_3, True), (GRAVITON_2, False), ("", False)],
)
def test_units_for_bfloat16_are_told_from_the_flags_of_the_processor(tmp_path: Path, text: str, expected: bool) -> None:
    information = tmp_path / "cpuinfo"
    information.write_text(text)
    assert has_bfloat16_units(information) is expected


def test_where_the_system_tells_nothing_there_are_none(tmp_path: Path) -> None:
    assert not has_bfloat16_units(tmp_path / "cpuinfo")


def test_its_name_is_what_its_maker_gave_or_its_kind(tmp_path: Path) -> None:
    information = tmp_path / "cpuinfo"
    information.write_text(MILAN)
    assert processor_name(information) == "AMD EPYC bf16"
    information.write_text(GRAVITON_3)
    kind = processor_name(information)
    assert kind
    assert processor_name(tmp_path / "nothing") == kind
