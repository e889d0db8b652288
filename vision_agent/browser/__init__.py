"""The browser: Playwright lives here and nowhere else. Knows nothing of models or of the record."""
