"""Measuring: task sites served on loopback, MiniWoB++, and what a page says about its own end state."""
