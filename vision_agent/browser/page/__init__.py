"""The open pages: tabs, frames, the overlay in them, screenshots, and whether a page is stable."""
