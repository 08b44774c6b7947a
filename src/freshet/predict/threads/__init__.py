"""When the next post of a thread comes, and when a visit is worth its price."""
