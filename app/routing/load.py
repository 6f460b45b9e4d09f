"""From the name of a routing policy to the policy."""

from __future__ import annotations

import importlib
from typing import cast

import terminal
from app.errors import RoutingNotFound
from app.routing import POLICIES, Routing, RoutingOptions


def load_routing(name: str, options: RoutingOptions) -> Routing:
    """Return the policy of a name in `POLICIES`, or of a Python path `package.module:Class`.

    Raises:
        RoutingNotFound: There is none, or it cannot be made.
    """
    path = POLICIES.get(name, name)
    module, colon, attribute = path.partition(":")
    if not colon:
        hint = terminal.did_you_mean(name, POLICIES)
        raise RoutingNotFound(
            f"There is no routing policy {name!r}.{hint} Policies: {', '.join(POLICIES)}, or a class of your own as "
            "package.module:Class."
        )
    try:
        made = getattr(importlib.import_module(module), attribute)(options)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise RoutingNotFound(
            f"The routing policy {name!r} cannot be made: {error}. It must be a class that can be imported and takes "
            "one RoutingOptions."
        ) from error
    if not callable(getattr(made, "choose", None)):
        raise RoutingNotFound(f"The routing policy {name!r} has no method `choose`.")
    return cast(Routing, made)
