"""The language models: one module per provider's API, and what they have in common."""
