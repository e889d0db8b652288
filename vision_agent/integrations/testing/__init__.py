"""What the fixtures of the pytest plugin give to a test: marks to act on and check by what is written there."""

from vision_agent.integrations.testing.marks import AsyncMarks, Marks

__all__ = ["AsyncMarks", "Marks"]
