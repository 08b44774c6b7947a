"""Import page histories from other formats as observations."""
