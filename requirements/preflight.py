"""Check that this machine can hold Openbook, before anything is downloaded. One line for what is missing, exit code 2.

Runs on the Python that `make` finds, however old: nothing newer than Python 2.7 is used here.
"""

import os
import shutil
import sys

GIB = 1024.0**3
NEED_PYTHON = (3, 11)
NEED_DISK_GIB = 8
NEED_MEMORY_GIB = 8


def python_problem():
    """Return what is wrong with the Python, or None."""
    found = sys.version_info[:3]
    if found < NEED_PYTHON:
        need = ".".join(map(str, NEED_PYTHON))
        have = ".".join(map(str, found))
        return "Openbook needs Python %s or newer; %s is %s. Name another one: make PYTHON=python%s" % (
            need,
            sys.executable,
            have,
            need,
        )
    return None


def disk_problem(folder, free_bytes):
    """Return what is wrong with the free disk space, or None."""
    free = free_bytes / GIB
    if free < NEED_DISK_GIB:
        return "Openbook needs %d GiB of free disk; %s has %.1f. Free some, or clone to another disk." % (
            NEED_DISK_GIB,
            folder,
            free,
        )
    return None


def memory_problem(meminfo):
    """Return what is wrong with the memory, from the text of /proc/meminfo, or None."""
    for line in meminfo.splitlines():
        if line.startswith("MemTotal:"):
            total = int(line.split()[1]) * 1024 / GIB
            # Firmware and kernel take a little of what is sold as 8 GiB.
            if total < NEED_MEMORY_GIB * 0.95:
                return "Openbook needs %d GiB of memory (vLLM takes 4 to 5); this machine has %.1f." % (
                    NEED_MEMORY_GIB,
                    total,
                )
    return None


def cpu_problem(cpuinfo, machine):
    """Return what is wrong with the processor, from the text of /proc/cpuinfo, or None."""
    if machine in ("x86_64", "AMD64") and "avx2" not in cpuinfo.split():
        return (
            "Openbook needs a processor with AVX2 (vLLM's CPU kernels use it); this one has none. Use another machine."
        )
    return None


def read(path):
    """Return the text of a file, or "" where there is none."""
    try:
        with open(path) as stream:
            return stream.read()
    except (IOError, OSError):
        return ""


def problems(folder, lock):
    """Return every problem of this machine, one line each."""
    found = [python_problem()]
    if found[0] is None:
        found.append(disk_problem(folder, shutil.disk_usage(folder).free))
    found.append(memory_problem(read("/proc/meminfo")))
    cpuinfo = read("/proc/cpuinfo")
    if lock == "cpu" and cpuinfo:
        found.append(cpu_problem(cpuinfo, os.uname()[4]))
    return [problem for problem in found if problem]


if __name__ == "__main__":
    lines = problems(os.getcwd(), sys.argv[1] if len(sys.argv) > 1 else "cpu")
    for line in lines:
        sys.stderr.write("Error: %s\n" % line)
    sys.exit(2 if lines else 0)
