"""What Prometheus is told of the engines."""

from __future__ import annotations

from app.schemas.schema import Schema


class Target(Schema):
    """An entry of Prometheus's HTTP service discovery."""

    targets: tuple[str, ...]
    """Host and port."""
    labels: dict[str, str]
    """`__metrics_path__` says where on that host."""
