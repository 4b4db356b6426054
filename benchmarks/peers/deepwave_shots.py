"""Shots and gradients of deepwave and of terrane.compat.deepwave: the same call, single precision, in one process.

    python deepwave_shots.py [--threads 2] [--repeats 3]

prints JSON. Needs torch and deepwave (pip install deepwave) beside Terrane, and says so without them. They take turns,
and the best of all counts: seconds of the clock, and of the processors, which other programs on the machine disturb
less. A gradient is that of the velocity, of the sum of squares of the receivers, with the waves before it.
"""

import argparse
import json
import os
import sys
import time
import warnings

CASES = {
    "2-D, 200 x 300, 2 shots, 500 steps": ((200, 300), 2, 500),
    "3-D, 80 x 80 x 80, 1 shot, 150 steps": ((80, 80, 80), 1, 150),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    try:
        import deepwave
        import torch
    except ImportError:
        print("deepwave is not installed: nothing to compare with (pip install deepwave)", file=sys.stderr)
        return
    import numpy as np
    from terrane.compat import deepwave as ours

    warnings.simplefilter("ignore")
    torch.set_num_threads(given.threads)
    results = {}
    for name, (shape, shots, count) in CASES.items():
        v = torch.linspace(1800, 3000, shape[0]).reshape(-1, *[1] * (len(shape) - 1)).expand(shape).contiguous()
        t = torch.arange(count) * 0.001 - 0.08
        f = ((1 - 2 * (np.pi * 15 * t) ** 2) * torch.exp(-((np.pi * 15 * t) ** 2))).repeat(shots, 1, 1)
        sources = torch.zeros(shots, 1, len(shape), dtype=torch.long) + shape[0] // 10
        sources[:, 0, -1] = (torch.arange(shots) + 1) * shape[-1] // (shots + 1)
        receivers = torch.zeros(shots, 50, len(shape), dtype=torch.long) + shape[0] // 8
        receivers[:, :, -1] = torch.arange(50) + 10
        call = {"source_amplitudes": f, "source_locations": sources, "receiver_locations": receivers, "accuracy": 8,
                "pml_freq": 15.0}

        def waves(module, v=v, call=call):
            return module.scalar(v, 10.0, 0.001, **call)[-1]

        def gradient(module, v=v, call=call):
            rock = v.clone().requires_grad_()
            (module.scalar(rock, 10.0, 0.001, **call)[-1] ** 2).sum().backward()
            return rock.grad[tuple(slice(1, -1) for _ in v.shape)]

        best, values = {}, {}
        for _ in range(given.repeats):
            for what in (waves, gradient):
                for program, module in (("deepwave", deepwave), ("terrane", ours)):
                    wall, processor = time.perf_counter(), time.process_time()
                    values[what.__name__, program] = what(module)
                    spent = time.perf_counter() - wall, time.process_time() - processor
                    key = f"{what.__name__}_{program}"
                    best[key] = [min(a, b) for a, b in zip(best.get(key, spent), spent)]
        results[name] = {
            "seconds": {key: round(both[0], 3) for key, both in best.items()},
            "processor_seconds": {key: round(both[1], 3) for key, both in best.items()},
            "differ_by_of_largest": {what: float((values[what, "terrane"] - values[what, "deepwave"]).abs().max() /
                                                 values[what, "deepwave"].abs().max())
                                     for what in ("waves", "gradient")}}
    print(json.dumps({"deepwave": deepwave.__version__, "torch": torch.__version__, "threads": given.threads,
                      "repeats": given.repeats, "load_average": os.getloadavg()[0], "cases": results}, indent=1))


if __name__ == "__main__":
    main()
