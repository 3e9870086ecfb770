#!/usr/bin/env python3
# Reads what ncu wrote of profiled benchmarks (--csv --page raw) and says of each kernel what it kept busy: a table in
# Markdown of its time, how long its instructions take to issue if nothing else is waited for, the units that were
# nearest their peaks, and what its warps waited for. SPDX-License-Identifier: BSL-1.0
import argparse
import csv
import re
from pathlib import Path

TIME = "gpu__time_duration.sum"
PEAK = re.compile(r"(\w+)\.avg\.pct_of_peak_sustained_elapsed$")
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio$")
ISSUE, MEMORY, ACTIVE = "sm__issue_active", "dram__cycles_active", "sm__cycles_active"
COUNTED_ELSEWHERE = re.compile(f"{ISSUE}|{MEMORY}|{ACTIVE}|^fbpa__|_internal_activity$|^sm__inst_executed$")
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
NEAREST = 3
KERNEL = re.compile(r"([^/]*)/.*?(\w+)(?:<|\()")  # case/ void sinter::cuda::kernel<…>(…)


def number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:  # not counted on this device
        return 0.0


def row(record: dict[str, str], unit_of_time: str) -> str:
    busy = {match[1]: number(value) for column, value in record.items() if (match := PEAK.match(column))}
    us = number(record[TIME]) * MICROSECONDS[unit_of_time]
    units = sorted(((p, u) for u, p in busy.items() if not COUNTED_ELSEWHERE.search(u)), reverse=True)[:NEAREST]
    case, kernel = KERNEL.match(record["Kernel Name"]).groups()
    cells = [case, kernel, f"{us:.1f}", f"{us * busy[ISSUE] / 100:.1f}"]
    cells += [f"{busy[name]:.0f}" for name in (MEMORY, ISSUE, ACTIVE)]
    return " | ".join(cells + [", ".join(f"{u} {p:.0f}" for p, u in units), waits(record)])


def waits(record: dict[str, str]) -> str:
    stalls = {match[1]: number(value) for column, value in record.items() if (match := STALL.match(column))}
    cycles = sum(stalls.values()) or 1.0
    most = sorted(((c, r) for r, c in stalls.items() if r != "selected"), reverse=True)[:NEAREST]
    return ", ".join(f"{reason} {100 * c / cycles:.0f}" for c, reason in most)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the kernels of profiled benchmarks kept busy.")
    parser.add_argument("files", nargs="+", type=Path, help="CSV of ncu, raw page")
    print("| case | kernel | us | to issue, us | memory % | issue % | active % | units nearest their peaks, % | warps wait for, % |")
    print("|---" * 9 + "|")
    for path in parser.parse_args().files:
        with path.open() as file:
            records = csv.DictReader(line for line in file if line.startswith('"'))
            units = next(records, {})  # the first record has the units
            for record in records:
                print(f"| {row(record, units[TIME])} |")


if __name__ == "__main__":
    main()
