"""How much is done at once, how long it may take, and how the server ends."""
