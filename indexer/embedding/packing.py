"""The linear layers of a model in bfloat16, packed once for the matrix units of the processor.

PyTorch's own bfloat16 layers bring their weights into the units' order anew at every call, which for a question takes
longer than the multiplication. Everything between the layers stays float32, so the vectors stay close to float32's
(a cosine of 0.9998 and more with the packaged model).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from corpus.processor import has_bfloat16_units

LONG_ROW = 512
"""Inputs from which on a row's result would depend on how many rows are multiplied with it: between `FEW_ROWS` and
`MANY_ROWS` of them the library adds up a long row in two halves, and rounds differently."""
FEW_ROWS = 32
MANY_ROWS = 512


def packing_is_faster() -> bool:
    """Say whether packed layers are faster than those in float32 here."""
    return has_bfloat16_units() and torch.backends.mkldnn.is_available()


class PackedLinear(torch.nn.Module):  # type: ignore[misc]
    """Takes numbers of any type, and gives bfloat16; a sum with float32 is float32 again."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().to(torch.bfloat16).contiguous())
        self._bias = None if linear.bias is None else linear.bias.detach().to(torch.bfloat16)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return the layer's result for numbers of shape (…, inputs), shape (…, outputs)."""
        rows = numbers.to(torch.bfloat16).reshape(-1, numbers.shape[-1])
        if rows.shape[1] >= LONG_ROW and FEW_ROWS < rows.shape[0] < MANY_ROWS:
            # A question must get the same vector whatever others are asked beside it.
            result = torch.cat([self._multiplied(few) for few in rows.split(FEW_ROWS)])
        else:
            result = self._multiplied(rows)
        return result.reshape(*numbers.shape[:-1], -1)

    def _multiplied(self, rows: torch.Tensor) -> torch.Tensor:
        packed: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._weight, self._bias, "none", [], "")
        return packed


@dataclass(frozen=True)
class _Place:
    parent: torch.nn.Module
    name: str
    linear: torch.nn.Linear


class Packing:
    """The layers of a model that were replaced."""

    def __init__(self, model: Any) -> None:
        """Replace every linear layer of `model` by a packed one."""
        self._places = [
            _Place(parent, name, child)
            for parent in model.modules()
            for name, child in parent.named_children()
            if type(child) is torch.nn.Linear
        ]
        for place in self._places:
            setattr(place.parent, place.name, PackedLinear(place.linear))

    def undo(self) -> None:
        """Put the layers back."""
        for place in self._places:
            setattr(place.parent, place.name, place.linear)
