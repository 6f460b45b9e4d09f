"""The REST API: its routers, one file per noun. To add a route: a file in `routes/` and a line here."""

from __future__ import annotations

from app.api.routes import answers, chat, documents, health, metrics

ROUTERS = (answers.router, chat.router, documents.router, health.router, metrics.router)
