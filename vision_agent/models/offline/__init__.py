"""Deciders without a model: step lines, a person, a script, the decisions of an earlier run."""
