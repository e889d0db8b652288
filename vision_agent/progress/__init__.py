"""Shows a run while it goes: in a terminal, in a notebook, in the log, as OpenTelemetry spans."""
