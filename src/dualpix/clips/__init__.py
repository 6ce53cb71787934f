"""Clips: from two videos, one video or numbered frames to a video or frames of disparity, in segments."""
