"""Is the memory of a process flat?"""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from experiments.bench.memory import Memory, MemoryWatch

SECONDS = range(100)


def test_what_a_process_needs_to_warm_up_is_no_growth():
    memory = Memory.of([(second, min(second, 40) + 100.0) for second in SECONDS])
    assert (memory.first_mib, memory.last_mib, memory.most_mib) == (100, 140, 140)
    assert memory.growth_mib == pytest.approx(0)


def test_a_leak_is_what_it_adds_over_the_whole_time():
    assert Memory.of([(second, 100 + 0.5 * second) for second in SECONDS]).growth_mib == pytest.approx(0.5 * 99)


def test_too_short_a_while_says_nothing_of_growth():
    assert Memory.of([(0.0, 100.0), (1.0, 200.0)]).growth_mib is None


def test_a_process_is_watched_with_its_children():
    child = "x = bytearray(50 * 2**20); input()"
    with subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while psutil.Process(process.pid).memory_info().rss < 50 * 2**20:
            pass
        with MemoryWatch(os.getpid(), every_s=0.01) as alone, MemoryWatch(os.getpid(), True, 0.01) as family:
            pass
        process.communicate(b"\n")
    assert family.memory().last_mib - alone.memory().last_mib > 40
