"""Packs: scenarios of one's own with a version and a digest, kept in a folder, a zip file or an installed package."""
