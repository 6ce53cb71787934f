"""``dualpix app``: a page in the browser, served from this computer to this computer only."""
