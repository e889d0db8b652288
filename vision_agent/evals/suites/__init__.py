"""Suites of tasks: their lists, how each task starts, and how its end is judged."""
