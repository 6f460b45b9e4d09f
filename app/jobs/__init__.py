"""Uploads: queued in a database of their own beside the store, and taken in by one process."""
