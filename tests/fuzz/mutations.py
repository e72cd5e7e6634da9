"""Ways to break a file: bytes, lines and fields changed, doubled, swapped, cut off."""

TOKENS = [
    *(b"nan", b"inf", b"-inf", b"1e999", b"-1e999", b"0x1p1024", b"1_000", b"1e", b"", b"-", b"+", b".", b"-0", b"00"),
    *(b"9" * 30, b"9" * 5000, b"0." + b"1" * 400, b"1e-400", "٣".encode(), b"None", b"null", b"true", b"[]", b"{}"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\x1b[2J", b"\xc2\x9b", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x85"),
    *(b"\r", b"\n", b"\r\n", b"\t", b" ", b",", b'"', b"'", b"\\", b"#", b":", b";", b"|", b"=1+1", b"@x", b"Q0"),
    *(b"x" * 300, b"x" * 70000, b"qid:1", b"1:0.5", b"__proto__", b"\\ud800", b"\\u0000", b'{"a":', b"[[[[", b"PAR1"),
    *(b"1", b"0", b"-1", b"2.5", b"rank", b"score", b"label", b"query_id", b"doc_id", b"\x1f\x8b", b"\x00" * 40),
]


def _at(rng, text):
    return rng.randrange(len(text) + 1)


def flip(rng, text):
    if not text:
        return b"x"
    at = rng.randrange(len(text))
    return text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1 :]


def insert(rng, text):
    at = _at(rng, text)
    return text[:at] + rng.choice(TOKENS) + text[at:]


def remove(rng, text):
    at = _at(rng, text)
    return text[:at] + text[at + rng.choice([1, 1, 3, 20, 500]) :]


def cut(rng, text):
    return text[: _at(rng, text)]


def repeat(rng, text):
    at, size = _at(rng, text), rng.choice([1, 8, 60, 400])
    return text[:at] + text[at : at + size] * rng.choice([2, 3, 50]) + text[at + size :]


def field(rng, text):
    """Put something else in the place of one field."""
    lines = text.split(b"\n")
    i = rng.randrange(len(lines))
    for separator in (b" ", b",", b"\t", b":"):
        parts = lines[i].split(separator)
        if len(parts) > 1:
            parts[rng.randrange(len(parts))] = rng.choice(TOKENS)
            lines[i] = separator.join(parts)
            break
    return b"\n".join(lines)


def lines(rng, text):
    """Double, drop, swap or shuffle lines."""
    parts = text.split(b"\n")
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    what = rng.randrange(5)
    if what == 0:
        parts.insert(i, parts[j])
    elif what == 1:
        del parts[i]
    elif what == 2:
        parts[i], parts[j] = parts[j], parts[i]
    elif what == 3:
        rng.shuffle(parts)
    else:
        parts.insert(i, rng.choice([b"", b"  ", b"# comment", b"\t", b"1 0 d", b"#", b"1 Q0 d 1 2 tag more fields"]))
    return b"\n".join(parts)


def ends(rng, text):
    """Change how lines end."""
    return text.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b" \n", b"\x0b\n", b"\x0c\n", b"\xc2\x85"]))


def encode(rng, text):
    """Write the text in another encoding, or put a mark before it."""
    if rng.random() < 0.3:
        return b"\xef\xbb\xbf" + text
    try:
        return text.decode().encode(rng.choice(["utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-32"]), "replace")
    except UnicodeDecodeError:
        return text[::-1]


WAYS = [flip, insert, insert, remove, cut, repeat, field, field, field, lines, lines, ends, encode]


def mutate(rng, text):
    """Return the text with one to four things changed."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        text = rng.choice(WAYS)(rng, text)
    return text
