"""Rules without a browser: who decides, approval, stalls, recovery, budget, and when a task is done."""
