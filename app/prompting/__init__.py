"""Prompts: from a question and its passages to the messages that the engine gets.

To add a template: a file `templates/<name>@<version>.yaml`. A changed wording is a new version.
"""
