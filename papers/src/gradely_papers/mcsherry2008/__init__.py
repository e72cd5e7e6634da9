"""M08: measures in the presence of tied scores."""
