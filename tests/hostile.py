"""Names that try to break out of wherever they are shown."""

HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    "\"'><svg onload=window.pwned=1>",
    "<!--<script>",
    "{{ 7*7 }}{% raw %}",
    "javascript:window.pwned=1",
    "\u202egnal\u202c\u2066",
    "line\u2028end\u2029",
    "\x00\x1b[31m",
    "\ud800",
    "&lt;b&gt;",
    "datum.x]['__proto__",
    "__proto__",
    "constructor",
    "toString",
    "long" * 2560,
)
