"""Locates the target of an action: its live element, or its place in a drawing."""
