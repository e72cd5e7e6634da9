"""A drop-in replacement for trec_eval: the same options and the same output, of versions 9 and 10."""
