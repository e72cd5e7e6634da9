"""S11: measures for many levels of relevance."""
