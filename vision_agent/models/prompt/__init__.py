"""The text that a model is shown, rendered from the files in `prompts/`."""
