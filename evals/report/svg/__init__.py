"""Drawings of flows and charts as SVG."""
