"""Layout: the positions of nodes on the canvas."""
