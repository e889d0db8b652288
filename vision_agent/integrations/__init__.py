"""Marks for programs that drive a browser themselves: other agents, evaluation frameworks, test suites.

Each is an extra with a guide in `docs/`. Nothing else in the package imports this room.
"""
