"""The guide as a site: what is in docs/, the pages of tools/reference, and each example as a page. Built by ./dev docs."""

import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
numbers = re.findall(r"define WEIR_VERSION_\w+ (\d+)", (root / "include/weir/version.hpp").read_text())

project = "weir"
release = version = ".".join(numbers)
html_title = f"weir {release}"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_static_path = [str(root / "docs/site/static")]
html_css_files = ["weir.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_button": None}
pygments_style = "friendly"
pygments_dark_style = "native"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
copybutton_exclude = ".linenos, .gp, .go"


def point_inside(app, name, source):
    """A link that leaves docs/ leads to the page of that example, or is the plain name of a file of the tree."""
    depth = name.count("/")
    up = "../" * depth

    def target(match):
        text, path = match.group(1), match.group(2)
        if path.startswith("examples/") and (root / path).is_file():
            return f"[{text}]({up}{path}.md)"
        return text if text.startswith("`") else f"`{text}`"

    source[0] = re.sub(r"\[([^\]]*)\]\((?:\.\./){%d}((?!\.\.)[^)#]+)\)" % (depth + 1), target, source[0])


def setup(app):
    app.connect("source-read", point_inside)
