"""Commands of the app, one file per noun."""
