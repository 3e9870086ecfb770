#!/usr/bin/env python3
# benchmarks/units.py on what ncu writes: names of cases and kernels, times in any unit, what counts as a unit, and what
# warps wait for.
# SPDX-License-Identifier: BSL-1.0
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

UNITS = Path(__file__).resolve().parents[2] / "benchmarks" / "units.py"
OF_PEAK = "avg.pct_of_peak_sustained_elapsed"
WAITS = {"long_scoreboard": "6", "selected": "1", "wait": "2", "barrier": "0.5", "no_instruction": "0.5", "drain": "0"}


def csv(time_unit: str, *kernels: tuple[str, str, dict[str, str]]) -> str:
    columns = [f"{name}.{OF_PEAK}" for name in kernels[0][2]] + ["lts__t_sectors.max.pct_of_peak_sustained_elapsed"]
    columns += [f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in WAITS]
    lines = ["==PROF== Connected", quoted("ID", "Kernel Name", "gpu__time_duration.sum", *columns)]
    lines.append(quoted("", "", time_unit, *["%"] * len(columns)))
    lines += [quoted("0", name, time, *busy.values(), "99", *WAITS.values()) for name, time, busy in kernels]
    return "\n".join(lines) + "\n"


def quoted(*cells: str) -> str:
    return ",".join(f'"{cell}"' for cell in cells)


def busy(**units: str) -> dict[str, str]:
    return {"dram__cycles_active": "80.4", "sm__issue_active": "50", "sm__cycles_active": "90"} | units


class Units(unittest.TestCase):
    def table(self, *files: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{i}.csv" for i in range(len(files))]
            for path, text in zip(paths, files):
                path.write_text(text)
            result = subprocess.run([sys.executable, UNITS, *paths], capture_output=True, text=True, check=True)
        return result.stdout.splitlines()[2:]

    def test_a_kernel_is_a_row(self):
        others = {"fbpa__dram_sectors": "99", "x_internal_activity": "99"}
        units = busy(sm__pipe_alu_cycles_active="70", lts__t_sectors="20", **others)
        name = "a_bf16_2x3/void sinter::cuda::reduction_looped<sinter::body<sinter::at<(long)0>>, (int)1>(T1)"
        self.assertEqual(
            self.table(csv("us", (name, "1,000.5", units))),
            [
                "| a_bf16_2x3 | reduction_looped | 1000.5 | 500.2 | 80 | 50 | 90 "
                "| sm__pipe_alu_cycles_active 70, lts__t_sectors 20 | long_scoreboard 60, wait 20, no_instruction 5 |"
            ],
        )

    def test_three_units_and_any_unit_of_time(self):
        units = busy(a="1", b="n/a", c="3", d="2")
        rows = self.table(csv("ns", ("k/void f(int)", "2500", units)), csv("us", ("l/void g(int)", "7", units)))
        self.assertTrue(rows[0].startswith("| k | f | 2.5 | 1.2 | 80 | 50 | 90 | c 3, d 2, a 1 | long_scoreboard 60"))
        self.assertTrue(rows[1].startswith("| l | g | 7.0 | 3.5 |"))

    def test_nothing_profiled(self):
        self.assertEqual(self.table("==PROF== Connected\n==WARNING== No kernels were profiled.\n"), [])


if __name__ == "__main__":
    unittest.main()
