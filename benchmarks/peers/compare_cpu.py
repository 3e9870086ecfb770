#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Lets the host's benchmarks and those of its peers take turns, and prints who was how fast.

All programs are started together. Each sets up a case, says so and waits; then they measure in turn for some
hundredths of a second each, again and again, so that in every turn all of them meet the machine in the same state. What
counts is the median of the turns' ratios: a machine whose memory is twice as fast for some seconds, and then is not,
favours nobody.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

PAUSE = 0.005  # seconds, until the threads of the program before, which spin for a while, are asleep


class Program:
    """A benchmark that takes turns: `case` is what it waits in, None when it is through."""

    def __init__(self, library, command, pattern):
        self.library, self.command = library, command
        # Threads that spin while they wait, as OpenMP's do, must not be put on one core.
        environment = dict(os.environ, OMP_PROC_BIND="true", SINTER_BENCH_TURNS="1")
        self.process = subprocess.Popen(
            [*command, f"--benchmark_filter={pattern}", f"--benchmark_out={os.devnull}", "--benchmark_out_format=json"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.case = self.answer()

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("@ "):
                return line[2:].strip()
            if "ERROR" in line:
                sys.stderr.write(line)
        if self.process.wait() != 0:
            sys.stderr.write(f"{self.command[-1]} ended with {self.process.returncode}.\n")
        return None

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.answer()

    def measure(self):
        time.sleep(PAUSE)
        return float(self.tell("go"))

    def go_on(self):
        self.case = self.tell("next")


def compare(programs, turns):
    """Yields each case with the seconds of every turn by library."""
    while any(p.library == "sinter" and p.case for p in programs):
        # They run the same cases in nearly the same order: those who lack one wait in a later one.
        waiting = collections.Counter(p.case for p in programs if p.case)
        case = max((p.case for p in programs if p.library == "sinter" and p.case), key=lambda c: waiting[c])
        here = [p for p in programs if p.case == case]
        times = {p.library: [] for p in here}
        for _ in range(turns):
            for p in here:
                times[p.library].append(p.measure())
        yield case, times
        for p in here:
            p.go_on()


def ratio_to_best(times):
    """The best peer's time by sinter's: median and quartiles of the turns' ratios, of the peer with the least median."""
    ratios = [[b / a for a, b in zip(times["sinter"], times[peer])] for peer in times if peer != "sinter"]
    if not ratios:
        return None
    best = min(ratios, key=statistics.median)
    return statistics.quantiles(best, n=4, method="inclusive") if len(best) > 1 else best * 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder of the benchmarks that were built")
    parser.add_argument("--turns", type=int, default=24)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the cases whose names match")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write the times of all turns there as JSON")
    options = parser.parse_args()
    commands = [("sinter", [str(p)]) for p in sorted(options.build.glob("host/bench.*"))]
    peers = ["eigen", "xtensor", "torch"]
    commands += [(peer, [str(p)]) for peer in peers for p in options.build.glob(f"peers/bench.{peer}")]
    commands.append(("torch", [options.python, str(pathlib.Path(__file__).parent / "torch_cpu.py")]))
    programs = [Program(library, command, options.filter) for library, command in commands]

    print("| case | sinter |", " | ".join(peers), "| best peer / sinter | quartiles |")
    print("|---" * (len(peers) + 4) + "|")
    all_times, medians = {}, []
    for case, times in compare(programs, options.turns):
        all_times[case] = times
        cells = [f"{statistics.median(times[p]) * 1e6:.1f}" if p in times else "" for p in ("sinter", *peers)]
        ratio = ratio_to_best(times)
        if ratio:
            medians.append(ratio[1])
            cells += [f"{ratio[1]:.2f}", f"{ratio[0]:.2f} to {ratio[2]:.2f}"]
        else:
            cells += ["", ""]
        print("|", " | ".join([case, *cells]), "|", flush=True)
    if medians:
        mean = math.exp(sum(map(math.log, medians)) / len(medians))
        print(f"\nMicroseconds, medians. Geometric mean of the ratios {mean:.2f}, the lowest {min(medians):.2f}.")
    if options.out:
        options.out.write_text(json.dumps(all_times, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
