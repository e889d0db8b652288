"""One run for each row of a table: reads the rows, runs them, several at once, and writes the answers."""

from vision_agent.batch.rows import Row, read_rows
from vision_agent.batch.run_rows import RowPlan, RowResult, run_rows

__all__ = ["Row", "RowPlan", "RowResult", "read_rows", "run_rows"]
