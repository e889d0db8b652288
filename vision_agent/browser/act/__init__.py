"""Carries out actions (pointer, keys, fields, lists, navigation) and reports the outcome of each."""
