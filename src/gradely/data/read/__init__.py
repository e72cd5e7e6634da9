"""Reading judgments and runs from files of every format, dataframes and dicts."""
