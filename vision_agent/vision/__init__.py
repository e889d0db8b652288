"""Works on pixels: image limits, coordinate maps, label placement, drawing, comparing. No page, no network."""
