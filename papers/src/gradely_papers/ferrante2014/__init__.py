"""F14: how to extend average precision to graded relevance."""
