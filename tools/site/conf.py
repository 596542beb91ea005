"""Settings of Sphinx for the site: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

project = "myisam-advisor"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
language = "en"
nitpicky = True

# Anchors as GitHub names them; a link to a page or heading that is not there is a warning, and script/docs ends on one.
myst_heading_anchors = 4
# What other flavours of Markdown take for text.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]
# Examples are shortened ("..."), which no lexer knows.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"

html_theme = "furo"
html_title = "myisam-advisor"
html_favicon = "icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
# Excerpts are fetched page by page, which no browser does of files; without them search is the same everywhere.
html_show_search_summary = False
html_theme_options: dict[str, object] = {"footer_icons": [], "top_of_page_buttons": []}
