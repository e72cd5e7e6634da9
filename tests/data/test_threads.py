"""Work on several things at a time: in order, and on no more threads than make sense."""

import threading
import time

from gradely.parallel import MOST, cores, on_threads


def test_very_many_threads_are_not_started():
    busy, most, lock = 0, 0, threading.Lock()

    def work(thing):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.002)
        with lock:
            busy -= 1
        return thing * thing

    things = range(40 * cores())
    assert list(on_threads(work, things, 5000)) == [thing * thing for thing in things]
    assert 1 < most <= MOST * cores()
