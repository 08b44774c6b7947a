"""How a page drifts away from what it was: its change curve, the knot and the shape."""
