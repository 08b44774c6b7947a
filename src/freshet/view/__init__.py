"""One snapshot becomes a View."""
