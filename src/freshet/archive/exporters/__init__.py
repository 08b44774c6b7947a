"""Tables that leave the collection."""
