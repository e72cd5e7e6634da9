"""The name of a run, from its last line: found at the end of the file, without reading the rest where it can."""

from io import FileIO

from gradely.data.read.sources import Source

TAIL = 1 << 16
"""bytes at the end of a file that surely hold a line"""


def run_id(source: Source, compat: int) -> str:
    """Return the tag of the last line; nothing where no line has one."""
    for line in reversed(_tail(source).split(b"\n")):
        fields = line.split()
        if len(fields) >= 6 and not (compat == 10 and fields[0].startswith(b"#")):
            return fields[5].decode("latin-1")
    return ""


def _tail(source: Source) -> bytes:
    with source.stream() as stream:
        if isinstance(stream, FileIO):
            stream.seek(max(0, source.size - TAIL))
            return stream.readall()
        tail, buffer = b"", bytearray(1 << 20)
        while got := stream.readinto(buffer):
            tail = (tail + buffer[:got])[-TAIL:]
        return bytes(tail)
