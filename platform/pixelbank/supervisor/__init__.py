"""Starts PixelBank on one machine and stops it without leaving anything behind. Standard library only."""
