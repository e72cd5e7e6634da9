"""What can be learnt from several runs on the same judgments: tests, intervals, correlations, pools, ties."""
