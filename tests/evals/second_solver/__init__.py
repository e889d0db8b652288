"""A second solver for MiniWoB++ that knows only what an observation offers.

It plays as a model would: it reads the goal, the listing, the boxes of marks, text that `Read` returns, and the pixels
of the clean picture. It never runs anything in the page, and it is told neither the task's name nor the reward.
`plan` chooses a strategy by the words of the goal; it shares none with the first solver.
"""
