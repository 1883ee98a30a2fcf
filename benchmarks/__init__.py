"""Measurements, side by side in one run: ratios first, absolute figures for this machine beside them."""
