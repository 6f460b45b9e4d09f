"""Who may do what: API keys, the caller of a request, and the index as that caller may see it."""
