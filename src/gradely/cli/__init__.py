"""The command line."""

from typing import NoReturn


def main() -> NoReturn:
    """Run `gradely`."""
    _start()


def trec_eval() -> NoReturn:
    """Run `gradely trec_eval` as a program of its own."""
    _start("trec_eval")


def _start(*command: str) -> NoReturn:
    """Import the commands and run one."""
    import gc
    import os
    import signal

    # Starting threads for matrix products takes a fifth of a small evaluation (128 ms of processor time, 101 without).
    # Evaluations have no such products, comparisons few, and one thread makes them equal on any number of processors.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A command ends soon, and collecting garbage would take longer than evaluating a small run.
    gc.set_threshold(100_000, 50, 50)
    # Ctrl-C during the imports ends the program without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gradely.cli.main import start

    start(command)
