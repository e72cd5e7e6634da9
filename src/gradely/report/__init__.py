"""Self-contained HTML pages: each is a single file that opens offline.

    page        the base of every page: styles, data and scripts in one file
    comparison  the page of a comparison
    data        the data for the script of this page
    holes       its section about unjudged documents
    charts      its charts, and the figures of plot
    systems     pages of systems with several runs each, and of suites
    judges      the page of judges

The HTML, the styles and the scripts are in templates.
"""
