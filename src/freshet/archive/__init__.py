"""What was seen, kept for good."""
