"""One command per flow: parses, calls, prints."""
