"""Finds what is drawn in a canvas, a video or a picture, from its pixels."""
