"""Places, colours and draws the labels of the marked picture."""
