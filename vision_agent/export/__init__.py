"""A recorded run in the formats of other tools."""
