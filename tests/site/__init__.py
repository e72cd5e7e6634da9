"""The site in a real browser: `make test-site` builds it and runs these tests."""
