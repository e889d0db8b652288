"""vision-agent in Inspect (`inspect_ai`): tasks, agent, tools, scorers and approver.

Everything runs through the code of `vision-agent eval` and of the MCP tools, so results and records are the same.
"""
