"""Makes an observation of a page: marks, numbers, listing and both pictures."""
