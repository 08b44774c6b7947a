"""Export a collection to other formats."""
