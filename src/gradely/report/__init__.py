"""Self-contained HTML pages: one file each, that opens offline."""
