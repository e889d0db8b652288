"""Measures how well the agent works: suites of tasks, results and reports, and the quality of its marks."""
