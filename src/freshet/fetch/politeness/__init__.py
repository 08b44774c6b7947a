"""When a host may be asked: delays, back-off, robots.txt and waiting requests."""
