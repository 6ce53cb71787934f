"""Types that several modules of this package share."""

import os

StrPath = str | os.PathLike[str]
