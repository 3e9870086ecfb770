#!/usr/bin/env python3
# benchmarks/compare.py on a small run: the table, the mean, what is not comparable, the picture; and the programs
# beside it that need a library or a device, as far as the interpreter alone can tell.
# SPDX-License-Identifier: BSL-1.0
import importlib.util
import json
import math
import py_compile
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def entry(name: str, label: str, us: float, **more) -> dict:
    return {"name": name, "label": label, "run_type": "iteration", "real_time": us, "time_unit": "us"} | more


def run(device: str, *entries: dict, **facts) -> dict:
    return {"context": {"device": device} | facts, "benchmarks": list(entries)}


SINTER = run(
    "cuda",
    entry("a/iterations:1/manual_time", "sinter", 100, MB=400, **{"copy_%": 96}, host_us=2.5),
    entry("b", "sinter", 0.1, MB=8, time_unit="ms", **{"copy_%": 50}),
    entry("odd", "", 10, MB=40, **{"copy_%": 70}),
    entry("even", "sinter", 10, MB=40, **{"copy_%": 90}),
    {"name": "wrong", "label": "sinter", "error_occurred": True, "error_message": "it is wrong"},
    gpu="G",
)
TORCH = run(
    "cuda",
    entry("a", "PyTorch eager", 400, MB=400, **{"copy_%": 24}),
    entry("a", "PyTorch default", 200, MB=400, **{"copy_%": 48}, host_us=30.0),
    entry("b", "PyTorch default", 50, MB=9),
)
CUB = run("cuda", entry("a", "CUB", 125, MB=400))
CPU = run("cpu", entry("a", "sinter", 7, MB=1), entry("a", "Eigen", 14, MB=1))


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compare(self, *contents) -> subprocess.CompletedProcess:
        for i, content in enumerate(contents):
            (self.folder / f"{i}.json").write_text(json.dumps(content), encoding="utf-8")
        return subprocess.run(
            [sys.executable, ROOT / "benchmarks/compare.py", self.folder, "--out", self.folder / "out"],
            capture_output=True,
            text=True,
        )

    def text(self, name: str) -> str:
        return (self.folder / "out" / name).read_text(encoding="utf-8")

    def test_the_table(self):
        done = self.compare(SINTER, TORCH, CUB)
        self.assertEqual(done.returncode, 1, done.stderr)  # something was not measured
        lines = self.text("cuda.md").splitlines()
        self.assertIn("- gpu: G", lines)
        self.assertIn(
            "| case | sinter, us | % of copy | PyTorch, us | PyTorch / sinter | CUB, us | CUB / sinter |", lines
        )
        self.assertIn("| a | 100.0 | 96 | 200.0 (default) | 2.00 | 125.0 | 1.25 |", lines)
        self.assertIn("| b | 100.0 | 50 | 50.0 (default) | 0.50 |  |  |", lines)
        self.assertIn("| geometric mean |  |  |  | **1.00** |  | **1.25** |", lines)
        self.assertIn(
            f"takes {math.sqrt(1.25 * 0.5):.2f} times as long (geometric mean of 2 cases), at least 0.50 times (b)",
            self.text("cuda.md"),
        )

    def test_what_is_not_comparable_is_said(self):
        self.compare(SINTER, TORCH)
        text = self.text("cuda.md")
        self.assertIn("- wrong, sinter: it is wrong", text)
        self.assertIn("- b, PyTorch default: counts 9.0 MB where sinter counts 8.0", text)

    def test_other_shapes_and_the_slow_ones_among_them(self):
        self.compare(SINTER, TORCH)
        self.assertIn(
            "Other shapes: 2 cases, 1 of them at 85 % of the copy speed or more; the others:", self.text("cuda.md")
        )
        self.assertIn("| odd | 40 | 10.0 | 70 |", self.text("cuda.md"))

    def test_each_device_has_its_report_and_a_file_may_hold_several_runs(self):
        done = self.compare([CUB, CPU], run("cuda", entry("a", "sinter", 100, MB=400)), run("host that ran nothing"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| a | 7.0 |  | 14.0 | 2.00 |", self.text("cpu.md"))
        self.assertEqual(len(json.loads(self.text("results.json"))), 4)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").glob("*.md")), ["cpu.md", "cuda.md"])

    def test_the_fastest_of_several_rounds_counts(self):
        self.compare(CPU, run("cpu", entry("a", "Eigen", 10, MB=1), entry("a", "sinter", 8, MB=1)))
        self.assertIn("| a | 7.0 |  | 10.0 | 1.43 |", self.text("cpu.md"))

    def test_a_program_that_broke_off_does_not_cost_the_others(self):
        (self.folder / "broken.json").write_text('{"context": {', encoding="utf-8")
        done = self.compare(CPU)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken.json is not whole", done.stderr)
        self.assertIn("| a | 7.0 |", self.text("cpu.md"))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not here")
    def test_the_picture(self):
        self.compare(SINTER, TORCH, CUB)
        picture = self.text("cuda.svg")
        for word in ("PyTorch", "sinter", ">a<", ">b<"):
            self.assertIn(word, picture)
        self.assertNotIn("CUB", picture)  # it says no percentage
        self.assertLess(len(picture), 300_000)

    @unittest.skipIf(importlib.util.find_spec("matplotlib"), "matplotlib is here")
    def test_no_picture_without_matplotlib(self):
        self.assertIn("there is no picture", self.compare(SINTER, TORCH).stderr)


class Programs(unittest.TestCase):
    def test_they_compile(self):
        for path in sorted((ROOT / "benchmarks").rglob("*.py")):
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                py_compile.compile(str(path), cfile=f"{folder}/out", doraise=True)

    def test_the_machine_is_a_run_that_measured_nothing(self):
        done = subprocess.run([sys.executable, ROOT / "benchmarks/machine.py", "no-such-compiler"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)[0]["benchmarks"], [])


if __name__ == "__main__":
    unittest.main()
