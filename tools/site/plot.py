"""A small curve as SVG, in the colours of the page, light or dark."""

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 360, 160, 44, 8, 12, 32


def draw(values: list[float], name: str) -> str:
    """Return the values of a measure at ranks 1, 2, … as a curve."""
    low, high = min(0.0, *values), max(1.0, *values)

    def across(rank: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (rank - 1) / (len(values) - 1)

    def down(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    points = [(across(rank), down(value)) for rank, value in enumerate(values, 1)]
    spoken = f"{name} at ranks 1 to {len(values)}: {', '.join(f'{value:.2f}' for value in values)}"
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{spoken}">']
    for value in (low, high):
        y = down(value)
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(text_at(LEFT - 8, y + 4, "end", f"{value:g}"))
    parts += [text_at(across(rank), HEIGHT - 14, "middle", str(rank)) for rank in range(1, len(values) + 1)]
    parts.append(text_at((LEFT + WIDTH) / 2, HEIGHT - 1, "middle", "rank of the best document"))
    parts.append(f'<polyline class="curve" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
    parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
    return "\n".join([*parts, "</svg>"])


def text_at(x: float, y: float, anchor: str, text: str) -> str:
    """Return a text of the plot."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
