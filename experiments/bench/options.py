"""Options that several benchmarks have."""

from __future__ import annotations

import click


class Loads(click.ParamType[tuple[int, ...]]):
    """A list such as `1,4,16`: how many requests are under way at once, one measurement for each."""

    name = "N,N…"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read the list; an empty text is none."""
        if isinstance(value, tuple):
            return value
        try:
            loads = tuple(int(number) for number in value.split(",") if value.strip())
        except ValueError:
            loads = (0,)
        if any(load < 1 for load in loads):
            self.fail(f"{value!r} is no list of whole numbers from 1, such as 1,16", param, ctx)
        return loads


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
ENGINE_URL = click.option("--engine-url", metavar="URL", help="Ask this vLLM instead of starting one.")
