"""Pictures and pages made of results: refocused photos, and web pages that show maps."""

from .refocusing import refocus

__all__ = ["refocus"]
