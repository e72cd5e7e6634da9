"""M16: relevance from the data, by how far a score stands out."""
