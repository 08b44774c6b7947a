"""Models learned from recorded histories."""
