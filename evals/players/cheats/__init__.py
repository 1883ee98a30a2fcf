"""Cheats: players that try to look better than they are. None may pass more than it deserves."""
