"""Other people's networks, as ONNX files, run by ONNX Runtime on the processor.

`Network` is a file and a `Recipe`: how the views go in, and what comes out. docs/networks.md describes both.
"""

from .network import Network, open_network
from .recipe import KEYS, Recipe

__all__ = ["KEYS", "Network", "Recipe", "open_network"]
