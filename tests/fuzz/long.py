"""Long fuzzing of all readers, with files of 64 KiB to 1 MiB, until each has read so many bytes.

    python tests/fuzz/long.py build/fuzz/tests/fuzz [--bytes 1e9] [--seconds 3600] [--jobs N] [--record FILE] [READER...]

Programs run side by side for --slot seconds each; the next slot is that of the reader that will be done first. The
status is 1 when one has found anything: its input lies in --work as READER-crash-..., and is given to `fuzz_any` as an
argument, with TERRANE_FUZZ_READER=READER, to see it again. A reader of our own stops there; those by HDF5 and netCDF,
which have faults that are known, go on.
"""

import argparse
import json
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Libraries of others read these: what they leave in memory after a damaged file is not looked for.
BY_LIBRARY = ("hdf5", "netcdf")


def numbers(random_numbers, count):
    return " ".join(f"{random_numbers.uniform(-1e4, 1e4):.6g}" for _ in range(count))


def rows(size, row):
    """Lines until there are so many bytes."""
    lines, length = [], 0
    while length < size:
        lines.append(row(len(lines)))
        length += len(lines[-1]) + 1
    return lines


def netcdf3(size):
    """A grid in the classic format: two axes and a field."""
    side = max(2, int((size / 8) ** 0.5))

    def name(text):
        return struct.pack(">i", len(text)) + text + b"\0" * (-len(text) % 4)

    axes = [b"northing", b"easting"]
    dimensions = struct.pack(">ii", 10, 2) + b"".join(name(axis) + struct.pack(">i", side) for axis in axes)
    units = struct.pack(">ii", 12, 1) + name(b"units") + struct.pack(">i", 2) + name(b"m")
    layout = [(axes[0], [0], side), (axes[1], [1], side), (b"g_u", [0, 1], side * side)]
    header, begin = b"", 0
    for _ in range(2):  # the second time with the lengths of the first
        at, header = begin, b"CDF\x01" + struct.pack(">i", 0) + dimensions + struct.pack(">ii", 0, 0)
        header += struct.pack(">ii", 11, len(layout))
        for what, of, count in layout:
            header += name(what) + struct.pack(f">i{len(of)}i", len(of), *of) + units
            header += struct.pack(">iii", 6, 8 * count, at)
            at += 8 * count
        begin = len(header)
    axis = struct.pack(f">{side}d", *range(side))
    return header + axis + axis + struct.pack(f">{side * side}d", *range(side * side))


def grown(reader, size, r):
    """A file of the reader with about so many bytes."""
    side = max(2, int((size / 10) ** 0.5))
    if reader == "csv":
        return "\n".join(["easting [m],northing [m],up [m],g_u [mGal],name"] +
                         rows(size, lambda n: numbers(r, 4).replace(" ", ",") + f",s{n}"))
    if reader == "toml":
        return "\n".join(rows(size, lambda n: f'[[model.body]]\nkind = "sphere"  # {n}\ncentre = [{n}, 1e3, -2.5, "km"]\n'
                              f'names = {{a{n} = "x\\u00e9", b = [true, {{c.d = 0x{n:x}}}]}}'))
    if reader == "units":
        return "kg" + "*m/s^2 " * (size // 7)
    if reader == "esri":
        grid = "\n".join(numbers(r, side) for _ in range(side))
        return f"ncols {side}\nnrows {side}\nxllcorner 10\nyllcorner 20\ncellsize 4\nNODATA_value -1\n{grid}"
    if reader == "surfer":
        if size % 2:
            return struct.pack("<4shh6d", b"DSBB", side, side, 0, 9, 0, 9, -1, 1) + r.randbytes(4 * side * side)
        grid = "\n".join(numbers(r, side) for _ in range(side))
        return f"DSAA\n{side} {side}\n0 90\n0 90\n-1e4 1e4\n{grid}"
    if reader == "npy":
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 80}, 10), }}"
        text += " " * (-(len(text) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + r.randbytes(size // 80 * 80)
    if reader in ("tomofast_data", "ubc_gravity", "ubc_gradient"):
        lines = rows(size, lambda n: numbers(r, 9 if reader == "ubc_gradient" else 4))
        return ("datacomp=xx,xy,xz,yy,yz,zz\n" if reader == "ubc_gradient" else "") + "\n".join([str(len(lines)), *lines])
    if reader == "tomofast_grid":
        lines = rows(size, lambda n: f"{n} {n + 1} 0 2 0 3 {r.uniform(0, 9):.4g} {n + 1} 1 1")
        return "\n".join([str(len(lines)), *lines])
    if reader == "edi":
        count = size // 40
        blocks = [f">{name} //{count}\n{' '.join(f'{r.uniform(1e-3, 9):.6e}' for _ in range(count))}"
                  for name in ("FREQ", "ZXYR", "ZXYI")]
        return ">HEAD\n DATAID=A LAT=-26:30:0 LONG=28\n" + "\n".join([*blocks, ">END"])
    if reader == "modem_data":
        head = "> Full_Impedance\n> exp(+i\\omega t)\n> Ohm\n> 0\n> 0 0\n> 1 1\n"
        return head + "\n".join(rows(size, lambda n: f"{n // 4 + 1} S 0 0 1 2 3 {('ZXX', 'ZXY', 'ZYX', 'ZYY')[n % 4]} {numbers(r, 3)}"))
    if reader == "modem_model":
        side = max(2, round((size / 9) ** (1 / 3)))
        widths = "\n".join(" ".join("10" for _ in range(side)) for _ in range(3))
        return f"{side} {side} {side} 0 LOGE\n{widths}\n" + "\n".join(numbers(r, side) for _ in range(side * side))
    if reader == "ubc_mesh":
        count = size // 15
        widths = "\n".join(" ".join(f"{r.uniform(1, 99):.4f}" for _ in range(count)) for _ in range(3))
        return f"{count} {count} {count}\n0 0 0\n{widths}"
    if reader in ("ubc_model", "ubc_weights"):
        return "\n".join(rows(size, lambda n: numbers(r, 1)))
    if reader in ("segy", "su"):
        traces = max(1, size // 640)
        header = bytearray(240)
        struct.pack_into(">HH", header, 114, 100, 4000)
        begin = bytearray(b"C 1".ljust(3600, b" "))
        begin[3200:3600] = bytes(400)
        struct.pack_into(">HHHH", begin, 3216, 4000, 0, 100, 0)
        struct.pack_into(">H", begin, 3224, r.choice((1, 2, 5)))
        return (bytes(begin) if reader == "segy" else b"") + b"".join(bytes(header) + r.randbytes(400) for _ in range(traces))
    if reader == "rsf":
        head = f'n1={side} n2={side} d1=0.004 label1="Time" in="stdin" data_format="native_float"\n'
        return head.encode() + b"\f\f\x04" + r.randbytes(4 * side * side)
    if reader == "netcdf":
        return netcdf3(size)
    # What these hold is made by the program; what follows their end is looked at, too.
    seed = sorted((HERE / "corpus" / reader).iterdir())[0].read_bytes()
    return (seed * (size // len(seed) + 1))[:size]


def make_seeds(reader, folder):
    folder.mkdir(parents=True)
    r = random.Random(reader)
    for size in (1 << 16, (1 << 17) + 1, 1 << 18, (1 << 19) + 1, 1_000_000):
        data = grown(reader, size, r)
        (folder / str(size)).write_bytes(data if isinstance(data, bytes) else data.encode())


def environment_of(reader, program):
    environment = {**os.environ, "TERRANE_FUZZ_READER": reader,
                   "ASAN_OPTIONS": f"allocator_may_return_null=1:detect_leaks={int(reader not in BY_LIBRARY)}"}
    libraries = program.parent / "libraries"
    if libraries.is_dir():
        environment["LD_LIBRARY_PATH"] = str(libraries)
    return environment


class Reader:
    def __init__(self, name, programs, work):
        self.name, self.work = name, work
        self.program = programs / "fuzz_any"
        self.bytes = self.runs = self.slots = self.running = 0
        self.seconds, self.found = 0.0, []
        make_seeds(name, work / name / "seeds")

    def per_slot(self):
        return max(1.0, self.bytes / max(1, self.slots))

    def left(self, wanted):
        """Bytes, but for those that running programs are about to read."""
        return wanted - self.bytes - self.running * self.per_slot()

    def slot(self, number, seconds):
        """One program for so many seconds: (bytes, runs, seconds, what it said when it found something)."""
        corpus = self.work / self.name / f"corpus-{number}"
        corpus.mkdir()
        begin = time.monotonic()
        done = subprocess.run(
            [str(self.program), f"-seed={number}", f"-max_total_time={seconds}", "-max_len=1048576", "-len_control=0",
             "-rss_limit_mb=4096", "-timeout=60", "-reload=0", "-print_final_stats=1",
             f"-detect_leaks={int(self.name not in BY_LIBRARY)}", f"-artifact_prefix={self.work}/{self.name}-",
             str(corpus), str(self.work / self.name / "seeds"), str(HERE / "corpus" / self.name)],
            env=environment_of(self.name, self.program), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace")
        shutil.rmtree(corpus)

        def told(pattern):
            return sum(int(n) for n in re.findall(pattern, said))

        return (told(r"(?m)^bytes: (\d+)$"), told(r"(?m)^stat::number_of_executed_units: +(\d+)$"),
                time.monotonic() - begin, said[-3000:] if done.returncode else "")


def fuzz(readers, wanted, seconds, slot, jobs):
    """Slots until every reader has its bytes, or the time is over."""
    end, running = time.monotonic() + seconds, {}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and time.monotonic() + slot <= end:
                behind = [r for r in readers if r.left(wanted) > 0 and (not r.found or r.name in BY_LIBRARY)]
                if not behind:
                    break
                # Each once; then those that need the least time, so that many come to their end.
                reader = min(behind, key=lambda r: (r.slots + r.running > 0, r.left(wanted) / r.per_slot()))
                reader.running += 1
                running[pool.submit(reader.slot, sum(r.slots + r.running for r in readers), slot)] = reader
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                reader = running.pop(future)
                read, runs, took, found = future.result()
                reader.running -= 1
                reader.slots += 1
                reader.bytes += read
                reader.runs += runs
                reader.seconds += took
                if found:
                    reader.found.append(found)
                    print(f"{reader.name}: {found}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=Path, help="folder of fuzz_any")
    parser.add_argument("readers", nargs="*", help="otherwise all")
    parser.add_argument("--bytes", type=float, default=1e9, help="for each reader")
    parser.add_argument("--seconds", type=float, default=3600, help="of all")
    parser.add_argument("--slot", type=int, default=20, help="seconds of one program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=Path, default=Path("build/fuzz/long"))
    parser.add_argument("--record", type=Path)
    options = parser.parse_intermixed_args()
    shutil.rmtree(options.work, ignore_errors=True)
    names = options.readers or sorted(path.name for path in (HERE / "corpus").iterdir())
    readers = [Reader(name, options.programs.resolve(), options.work.resolve()) for name in names]
    begin = time.monotonic()
    fuzz(readers, options.bytes, options.seconds, options.slot, options.jobs)
    results = [{"reader": r.name, "bytes": r.bytes, "runs": r.runs, "core_seconds": round(r.seconds),
                "findings": len(r.found)} for r in readers]
    record = {"name": "fuzz_readers", "date": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
              "command": " ".join(["python", *sys.argv]), "seconds": round(time.monotonic() - begin),
              "machine": {"processor": platform.machine(), "cores": os.cpu_count()}, "results": results}
    print(json.dumps(record, indent=1))
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n")
    sys.exit(any(r.found for r in readers))


if __name__ == "__main__":
    main()
