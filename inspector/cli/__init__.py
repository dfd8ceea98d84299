"""The commands: each parses, calls one library function, renders the result and exits."""
