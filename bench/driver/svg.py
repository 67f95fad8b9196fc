"""Charts as SVG text. Each has a background of its own and follows the reader's light or dark preference."""
import math
from html import escape

STYLE = """<style>
.paper { fill: #ffffff } .text { fill: #1f2328; font: 13px sans-serif } .title { font-weight: 600 }
.grid { stroke: #d8dee4; stroke-width: 1 } .other { stroke: #6e7781; fill: #6e7781 }
.ours { stroke: #0969da; fill: #0969da } .quiet { fill: #57606a; font: 12px sans-serif } .bold { font-weight: 600 }
.line { stroke-width: 2 }
.c0 { stroke: #0969da; fill: #0969da } .c1 { stroke: #bc4c00; fill: #bc4c00 } .c2 { stroke: #1a7f37; fill: #1a7f37 }
.c3 { stroke: #8250df; fill: #8250df } .c4 { stroke: #6e7781; fill: #6e7781 } .line { fill: none }
@media (prefers-color-scheme: dark) {
.paper { fill: #131416 } .text { fill: #e6edf3 } .quiet { fill: #9aa4af } .grid { stroke: #353b43 }
.other { stroke: #8b949e; fill: #8b949e } .ours { stroke: #58a6ff; fill: #58a6ff }
.c0 { stroke: #58a6ff; fill: #58a6ff } .c1 { stroke: #f0883e; fill: #f0883e } .c2 { stroke: #56d364; fill: #56d364 }
.c3 { stroke: #bc8cff; fill: #bc8cff } .c4 { stroke: #8b949e; fill: #8b949e } .line { fill: none }
}
</style>
"""
WIDTH = 800
ROW = 22


def document(title, height, body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
        f'<title>{escape(title)}</title>\n{STYLE}<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def text(x, y, content, kind="text", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def line(x1, y1, x2, y2, kind, width=None):
    stroke = f' stroke-width="{width}"' if width else ""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{stroke}/>'


def panels_chart(title, panels):
    """Panels next to each other: [(title, unit, [(name, value, shown value, ours?)])]. One row for each library, on a
    logarithmic scale."""
    columns = min(2, len(panels))
    width = WIDTH / columns
    body, top = [], 0
    for first in range(0, len(panels), columns):
        beside = panels[first : first + columns]
        height = 62 + ROW * max(len(entries) for _, _, entries in beside)
        for index, panel in enumerate(beside):
            body += lollipops(index * width, top, width, *panel)
        top += height
    return document(title, top + 6, body)


def lollipops(left, top, width, title, unit, entries):
    names, values = 194, 72  # pixels for the names to the left and the values to the right
    low, high = left + names, left + width - values
    least = 10 ** math.floor(math.log10(min(value for _, value, _, _ in entries)))
    most = 10 ** math.ceil(math.log10(max(value for _, value, _, _ in entries)))

    def place(value):
        return low + (high - low) * math.log10(value / least) / math.log10(most / least)

    bottom = top + 36 + ROW * len(entries)
    body = [text(left + 12, top + 22, f"{title}, {unit}", "text title")]
    powers = range(round(math.log10(least)), round(math.log10(most)) + 1)
    for power in powers[:: 1 if len(powers) <= 5 else 2]:
        x = place(10**power)
        body += [line(x, top + 32, x, bottom, "grid"), text(x, bottom + 15, power_of_ten(power), "quiet", "middle")]
    for index, (name, value, shown, ours) in enumerate(entries):
        y = top + 46 + ROW * index
        kind, weight = ("ours", " bold") if ours else ("other", "")
        body.append(text(low - 8, y + 4, name, "text" + weight, "end"))
        body.append(line(low, y, place(value), y, kind, 3))
        body.append(f'<circle class="{kind}" cx="{place(value):.1f}" cy="{y}" r="4.5"/>')
        body.append(text(place(value) + 9, y + 4, shown, "quiet" + weight))
    return body


def power_of_ten(power):
    return f"{10**power:,}" if power < 4 else f"{10**power // 1000:,}k" if power < 6 else f"{10**power // 10**6:,}M"


def curves_chart(title, x_title, logarithmic, curves, y_title="ns per operation"):
    """{name: [(x, y)]}: y from 0, the names at the right ends."""
    left, right, top, bottom, height = 70, WIDTH - 230, 26, 320, 370
    xs = sorted({x for points in curves.values() for x, _ in points})
    scale_x = math.log10 if logarithmic else float
    step = tick_step(max(y for points in curves.values() for _, y in points))
    most = step * math.ceil(max(y for points in curves.values() for _, y in points) / step)

    def place(x, y):
        along = (scale_x(x) - scale_x(xs[0])) / (scale_x(xs[-1]) - scale_x(xs[0]))
        return left + (right - left) * along, bottom - (bottom - top) * y / most

    body = []
    for number in range(round(most / step) + 1):
        y = place(xs[0], number * step)[1]
        body += [line(left, y, right, y, "grid"), text(left - 8, y + 4, f"{number * step:,}", "quiet", "end")]
    for x in xs:
        label = power_of_ten(round(math.log10(x))) if logarithmic else f"{x}"
        body.append(text(place(x, 0)[0], bottom + 18, label, "quiet", "middle"))
    body.append(text((left + right) / 2, bottom + 40, x_title, "text", "middle"))
    body.append(text(left - 52, top - 10, y_title, "quiet"))
    ends = []
    for index, (name, points) in enumerate(curves.items()):
        drawn = [place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        body.append(f'<polyline class="c{index} line" points="{path}"/>')
        body += [f'<circle class="c{index}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in drawn]
        ends.append((drawn[-1][1], index, name))
    free = top
    for y, index, name in sorted(ends):  # the names keep clear of each other
        free = max(free, y)
        body.append(line(right + 12, free, right + 26, free, f"c{index}", 3))
        body.append(text(right + 32, free + 4, name))
        free += 18
    return document(title, height, body)


def tick_step(most):
    """1, 2 or 5 times a power of ten: four to eight steps up to the largest value."""
    size = 10 ** math.floor(math.log10(most))
    return next(max(1, int(size * part)) for part in (0.2, 0.5, 1) if most / (size * part) <= 8)
