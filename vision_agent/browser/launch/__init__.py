"""Finds, starts and sets up a browser."""
