"""Web pages that show results."""
