"""Commands for stored data: import, export, verify, prune, back up."""
