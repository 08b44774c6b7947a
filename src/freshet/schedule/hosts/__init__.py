"""What is learned about hosts, as tables with a row per host."""
