"""Measures perception: how correct the marks on pages are, and how well they can be read."""
