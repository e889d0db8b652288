"""`vision-agent mcp`: the marked picture and the acts by number as tools of the Model Context Protocol.

A session is an ordinary run whose decisions come from a client (`client_model`), so the host policy, secrets, approval
and the record are those of every run. `tools` makes the tools from the action classes, `answers` writes what a client
reads, `sessions` owns the runs, and only `server` and `serving` know the protocol's SDK.
"""

SERVED_AT = "/mcp"
"""The path of the server's address."""
