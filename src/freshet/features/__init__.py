"""What was known of pages at a moment, as numbers that models learn from."""
