"""A memory for AI agents: Markdown notes are the truth, hybrid search finds the lines."""

__version__ = "0.1.0"
