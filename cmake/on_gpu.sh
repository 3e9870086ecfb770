#!/usr/bin/env bash
# Runs a command where there is a CUDA device; elsewhere exits 77, which CTest counts as skipped.
nvidia-smi -L >/dev/null 2>&1 || { echo "No CUDA device here."; exit 77; }
exec "$@"
