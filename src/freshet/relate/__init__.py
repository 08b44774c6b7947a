"""Which pages move together: by links, by content, and by how their content changes."""
