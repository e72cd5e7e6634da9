"""The distribution gradely-papers: its command, the experiments of each paper and their claims."""
