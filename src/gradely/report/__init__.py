"""Pages to look at, each one file that opens offline."""
