"""The command line."""

from typing import NoReturn


def main() -> NoReturn:
    """Run `gradely`."""
    _start()


def trec_eval() -> NoReturn:
    """Run `gradely trec_eval`, as a program of its own."""
    _start("trec_eval")


def _start(*command: str) -> NoReturn:
    """Import the commands and run one.

    Who interrupts it while modules are imported wants it to end, and no traceback of the import. A command ends soon,
    so that garbage is collected late, which would take longer than evaluating a small run. NumPy starts no threads for
    products of matrices, which takes a fifth of the time of a small evaluation (101 ms of processors instead of 128):
    evaluations have none of these, and comparisons few. Products are then the same on any number of processors.
    """
    import gc
    import os
    import signal

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 50, 50)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gradely.cli.main import start

    start(command)
