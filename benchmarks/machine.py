#!/usr/bin/env python3
# Prints what the machine is, as the context of a benchmark that measured nothing: each device's name, clocks, compiler.
# What is not here is left out.
# SPDX-License-Identifier: BSL-1.0
import datetime
import json
import platform
import re
import subprocess
import sys


def output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def first_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""


def gpu() -> dict[str, str]:
    query = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.limit"
    values = output("nvidia-smi", "--id=0", f"--query-gpu={query}", "--format=csv,noheader").strip().split(", ")
    if len(values) != query.count(",") + 1:
        return {}
    name, driver, sm, max_sm, memory, max_memory, power = values
    return {
        "gpu": name,
        "driver": driver,
        "clocks": f"SM {sm} now, {max_sm} at most; memory {memory} now, {max_memory} at most; {power}",
    }


def main() -> None:
    shared = {
        "date": datetime.date.today().isoformat(),
        "compiler": output(sys.argv[1] if len(sys.argv) > 1 else "g++", "--version").split("\n")[0],
    }
    cpu = {
        "cpu": first_match(r"^Model name:(.*)$", output("lscpu")) or platform.processor(),
        "cores": first_match(r"^CPU\(s\):(.*)$", output("lscpu")),
    }
    nvcc = {"nvcc": first_match(r"release .*, V(\S+)", output(sys.argv[2], "--version")) if len(sys.argv) > 2 else ""}
    devices = {"cpu": shared | cpu, "cuda": shared | nvcc | gpu()}
    if "gpu" not in devices["cuda"]:
        del devices["cuda"]
    json.dump(
        [
            {"context": {"device": name} | {k: v for k, v in facts.items() if v}, "benchmarks": []}
            for name, facts in devices.items()
        ],
        sys.stdout,
        indent=1,
    )


if __name__ == "__main__":
    main()
