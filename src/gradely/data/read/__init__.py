"""Reading judgments and runs from files of every format, dataframes and dicts.

    readers       read_qrels and read_run: from anything to Qrels and Run
    sources       files as bytes: by path, from a pipe or from standard input
    column_roles  which columns of a table hold query, document and number
    frames        dataframes
    csv_files     CSV and TSV files
    json_files    JSON and JSON Lines
    dicts         dicts of dicts, as people hold them

Whatever the format, an error names the file, the line, what was found there, and what to do.
"""
