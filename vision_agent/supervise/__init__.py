"""Lets a person approve, change or stop what the run does, in the terminal or on a live web page."""
