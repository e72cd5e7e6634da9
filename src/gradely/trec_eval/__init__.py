"""trec_eval, drop-in: the same options, the same text, versions 9 and 10."""
