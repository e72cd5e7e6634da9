"""From judgments and a run to scores, and what there is to know about them."""
