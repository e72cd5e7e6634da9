"""Reading judgments and runs from files of every format, dataframes and dicts.

    readers       read_qrels and read_run: from anything to Qrels and Run
    formats       what a file is, by its name and its first bytes
    sources       files as bytes: by path, from a pipe or from standard input
    packed        gzip, bzip2, xz and Zstandard
    pipes         pipes and standard input, kept so that they can be read again
    column_roles  which columns of a table hold query, document and number
    frames        dataframes
    parquet       Parquet files and folders of them
    csv_files     CSV and TSV files
    json_files    JSON and JSON Lines
    records       lists of dicts, dataclasses or named tuples
    dicts         dicts of dicts, as people hold them
    letor         LETOR and svmlight files

Whatever the format, an error names the file, the line, what was found there, and what to do.
"""
