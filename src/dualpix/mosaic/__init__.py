"""One huge picture as tiles: a coarse belief of the whole, then every finer scale tile by tile."""
