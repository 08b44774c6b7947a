"""One module per command: its Typer app, what it asks of the flow, what it prints."""
