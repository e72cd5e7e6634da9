"""Keep the memory that was freed, for what comes next."""

TRIM, MAP = -1, -3
"""glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD"""


def keep_freed() -> None:
    """Ask the C library not to give memory back, since work piece by piece wants the same again; not all can be asked.

    Without this, a third of the time of many runs is spent on being given new pages.
    """
    try:
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
    except (ImportError, OSError, AttributeError, TypeError):
        return
    mallopt(TRIM, 2**31 - 1)
    mallopt(MAP, 2**25)
