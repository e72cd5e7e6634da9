"""The configuration of Sphinx: Markdown, the theme, and no resources that a page would fetch from other servers."""

from pathlib import Path

import gradely

project = "gradely"
author = "the contributors of gradely"
copyright = author  # noqa: A001 - Sphinx's name
version = release = gradely.__version__
language = "en"
smartquotes = False  # 'identity' is something to type

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "tools.site.mathematics"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "gradely"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js", "figures.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0a58a8", "color-brand-content": "#0a58a8"},
    "dark_css_variables": {"color-brand-primary": "#7fb8ff", "color-brand-content": "#7fb8ff"},
    "navigation_with_keys": True,
}
highlight_language = "text"  # what has no language is what a program prints
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
