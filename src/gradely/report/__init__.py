"""Self-contained HTML pages: each is a single file that opens offline."""
