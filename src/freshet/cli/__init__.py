"""The command line: parses arguments, calls the other packages, prints results."""
