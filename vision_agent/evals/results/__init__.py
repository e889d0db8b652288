"""Presents results: summaries, tables, comparisons, and an HTML page."""
