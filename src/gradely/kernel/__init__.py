"""The numbers: what a batch of rankings is, tie groups, and the formulas of the families."""
