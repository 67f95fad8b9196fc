"""The guide as a site: what is in docs/, the pages of tools/reference, and each example as a page. Built by ./dev docs."""

import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[2]
numbers = re.findall(r"define WEIR_VERSION_\w+ (\d+)", (root / "include/weir/version.hpp").read_text(encoding="utf-8"))

project = "weir"
release = version = ".".join(numbers)
html_title = f"weir {release}"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_static_path = [str(root / "docs/site/static")]
html_css_files = ["weir.css"]
html_favicon = str(root / "docs/site/weir.svg")
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_button": None}
pygments_style = "friendly"
pygments_dark_style = "native"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "tasklist"]
copybutton_exclude = ".linenos, .gp, .go"


def point_inside(_app, name, source):
    """A link that leaves docs/ leads to the page of that example, or is the plain name of a file of the tree."""
    depth = name.count("/")
    up = "../" * depth

    def target(match):
        text, path = match.group(1), match.group(2)
        if path.startswith("examples/") and (root / path).is_file():
            return f"[{text}]({up}{path}.md)"
        return text if text.startswith("`") else f"`{text}`"

    source[0] = re.sub(rf"\[([^\]]*)\]\((?:\.\./){{{depth + 1}}}((?!\.\.)[^)#]+)\)", target, source[0])


def complete_furo(app, exception):
    """Adds what Debian's build of Furo leaves out. What a later Furo has by itself is left alone; tools/site_test shows
    whether the result works."""
    if exception:
        return
    static = pathlib.Path(app.outdir) / "_static"

    # It is not bundled: furo.js imports another script, which is no module, and is itself loaded as a plain script.
    script = static / "scripts/furo.js"
    imported = re.match(r'import (\w+) from "\./([\w.-]+)";\n', script.read_text(encoding="utf-8"))
    if imported:
        library = (script.parent / imported.group(2)).read_text(encoding="utf-8")
        rest = script.read_text(encoding="utf-8")[imported.end() :]
        script.write_text(f"{library}\n(function () {{\n{rest}\n}})();\n", encoding="utf-8")

    # The reset of the browser's own style is imported from where a Debian web server would have it.
    sheet = static / "styles/furo.css"
    style = re.sub(
        r"@import url\((/javascript/[\w./-]+)\);",
        lambda reset: pathlib.Path("/usr/share" + reset.group(1)).read_text(encoding="utf-8"),
        sheet.read_text(encoding="utf-8"),
    )

    # LibSass drops a media query inside a negated one, and with it the colors of a reader who prefers dark pages.
    dark = re.search(r'@media not print \{\s*body\[data-theme="dark"\].*?\} \}\n', style, re.DOTALL)
    if dark and "prefers-color-scheme" not in style:
        preferred = dark.group().replace('body[data-theme="dark"]', 'body:not([data-theme="light"])')
        style += f"@media (prefers-color-scheme: dark) {{\n{preferred}}}\n"
    sheet.write_text(style, encoding="utf-8")


def setup(app):
    app.connect("source-read", point_inside)
    app.connect("build-finished", complete_furo)
