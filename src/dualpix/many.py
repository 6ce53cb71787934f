"""Work in many pieces: the captures of a batch, and the tiles of a huge picture."""

from .batches.api import batch
from .mosaic.api import tiles

__all__ = ["batch", "tiles"]
