"""The API key that Openbook's own commands send to a server."""

from __future__ import annotations

import os

VARIABLE = "OPENBOOK_API_KEY"


def authorization() -> dict[str, str]:
    """Return the header that shows the key of the environment; none where there is no key or an empty one."""
    key = os.environ.get(VARIABLE, "").strip()
    return {"authorization": f"Bearer {key}"} if key else {}
