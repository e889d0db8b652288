"""Measures how safe the agent is: attacks, each beside a useful task, and the defence that stops each one."""
