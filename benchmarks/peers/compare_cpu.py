#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the host's benchmarks and those of its peers in turn, and prints who was how fast.

Every case is run by one program after the other, round after round, so that what disturbs the machine for seconds
disturbs all of them alike; of each case the fastest round counts. PyTorch, which takes long to start and to compile,
runs all of its cases at the end of a round.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile


def times(command, pattern):
    """Microseconds by case. A program that fails leaves cases out, and says why."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        flags = [f"--benchmark_out={out.name}", f"--benchmark_filter={pattern}"]
        # Threads that spin while they wait, as OpenMP's do, must not be put on one core.
        environment = dict(os.environ, OMP_PROC_BIND="true")
        done = subprocess.run(
            command + flags, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if done.returncode != 0:
            sys.stderr.write(f"{command[-1]}: {done.stderr[-500:]}\n")
        text = pathlib.Path(out.name).read_text(encoding="utf-8")
    found = {}
    for entry in json.loads(text)["benchmarks"] if text else []:
        if entry.get("error_occurred"):
            sys.stderr.write(f"{entry['name']}: {entry['error_message']}\n")
        else:
            found[entry["name"].split("/")[0]] = entry["real_time"]
    return found


def cases_of(command, pattern):
    """The names of a program's cases."""
    flags = ["--benchmark_list_tests", f"--benchmark_filter={pattern}"]
    listed = subprocess.run(command + flags, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [line.split("/")[0] for line in listed.stdout.splitlines()]


def turns(programs, pattern):
    """(library, command, pattern) in the order of a round."""
    lists = {library: [(c, set(cases_of(c, pattern))) for c in commands] for library, commands in programs.items()}
    for case in dict.fromkeys(case for c in programs["sinter"] for case in cases_of(c, pattern)):
        for library, commands in lists.items():
            yield from ((library, command, f"^{case}/") for command, cases in commands if case in cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder of the benchmarks that were built")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--filter", default="", metavar="REGEX", help="only the cases whose names match")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write all times there as JSON")
    options = parser.parse_args()
    here = pathlib.Path(__file__).parent
    programs = {"sinter": [[str(p)] for p in sorted(options.build.glob("host/bench.*"))]}
    for peer in ("eigen", "xtensor"):
        programs[peer] = [[str(p)] for p in options.build.glob(f"peers/bench.{peer}")]
    in_turn = list(turns(programs, options.filter))
    in_turn.append(("torch", [options.python, str(here / "torch_cpu.py")], options.filter))

    best = {library: {} for library in [*programs, "torch"]}
    for _ in range(options.rounds):
        for library, command, pattern in in_turn:
            for case, time in times(command, pattern).items():
                best[library][case] = min(time, best[library].get(case, math.inf))

    peers = [library for library in best if library != "sinter" and best[library]]
    print("| case | sinter |", " | ".join(peers), "| best peer / sinter |")
    print("|---" * (len(peers) + 3) + "|")
    ratios = []
    for case, time in best["sinter"].items():
        others = [best[peer].get(case) for peer in peers]
        known = [x for x in others if x is not None]
        ratios.extend([min(known) / time] if known else [])
        cells = ["" if x is None else f"{x:.1f}" for x in others]
        print(f"| {case} | {time:.1f} |", " | ".join(cells), f"| {ratios[-1]:.2f} |" if known else "| |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nMicroseconds. Geometric mean of the ratios {mean:.2f}, the lowest {min(ratios):.2f}.")
    if options.out:
        options.out.write_text(json.dumps(best, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
