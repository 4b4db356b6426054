"""PREM of figure 7 whole, 256² elements at the surface and ten rows: all steps on a GPU, the first of them on the CPU too.

    python whole.py TERRANE [--steps 10000] [--cpu-steps 300] [--columns 256] [--begin -70]     prints JSON; needs h5py

The seismograms of a GPU are compared with those of the CPU, both in single precision: the difference over the peak of
the first steps. These begin within the wavelet, so that both receivers, some 300 km from the source, soon move.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

JOB = Path(__file__).parent / "job.toml"


def keys(text, *names):
    return [re.search(rf"^ +{name} +(.*)", text, re.MULTILINE).group(1) for name in names]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("terrane")
    words.add_argument("--steps", type=int, default=10000)
    words.add_argument("--cpu-steps", type=int, default=300)
    words.add_argument("--begin", type=float, default=-70, help="s; the wavelet peaks at 0")
    words.add_argument("--columns", type=int, default=256)
    given = words.parse_args()

    def terrane(verb, device, *more):
        begin = time.monotonic()
        done = subprocess.run([given.terrane, verb, JOB, "--set", f"elements.columns=[{given.columns}, {given.columns}]",
                               "--set", f'simulation.device="{device}"', "--set",
                               'simulation.time_dispersion="kept"', *more],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return done.stdout, time.monotonic() - begin

    # One step for both, or their samples would be of other times.
    step = float(re.search(r"steps of ([\d.e-]+) s", terrane("check", "cpu")[0]).group(1)) * 0.999
    begin = given.begin
    out = {"columns": given.columns, "step_s": step}
    traces = {}
    with tempfile.TemporaryDirectory() as folder:
        for device, steps in (("cuda", given.steps), ("cpu", given.cpu_steps)):
            said, seconds = terrane("run", device, "--output", f"{folder}/{device}", "--set", f"simulation.begin={begin}",
                                    "--set", f"simulation.step={step}", "--set", f"simulation.end={begin + step * (steps - 1e-6)}")
            with h5py.File(f"{folder}/{device}/prem.nc") as data:  # netCDF-4 is HDF5
                traces[device] = data["displacement"][:].astype(float)  # receiver, component, time
            elements, count, ran = keys(said, "elements", "steps", "time")
            out[device] = {"elements": elements, "steps": count, "wall_s": seconds, "time": ran,
                           "device": keys(said, "device|on")[0]}
            print(device, out[device], file=sys.stderr)
    length = min(traces["cpu"].shape[-1], traces["cuda"].shape[-1])
    cpu, cuda = traces["cpu"][..., :length], traces["cuda"][..., :length]
    peaks = np.abs(cpu).max(axis=-1)
    out["samples_compared"] = length
    out["peaks_m"] = peaks.ravel().tolist()
    out["apart_of_largest_peak"] = float(np.abs(cpu - cuda).max() / peaks.max())
    out["apart_of_each_peak"] = (np.abs(cpu - cuda).max(axis=-1) / peaks).ravel().tolist()
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
