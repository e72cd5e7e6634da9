"""What a base installation can do, tested from where it is installed: `make build` runs it in a clean environment."""
