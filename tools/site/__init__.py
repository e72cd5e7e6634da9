"""The site, which `make site` builds from docs/, the documents at the root, and the code itself."""
