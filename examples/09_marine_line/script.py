"""A marine line with and without its resistor, from Python: the numbers of job.toml and a picture.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)
job = Path(__file__).parent / "job.toml"

# 1. The job as it is, then with the sediment in place of the resistor.
with_resistor = terrane.run(job, output=output, plots=False)
print(with_resistor)
plain_job = output / "without_resistor.toml"
plain_job.write_text(job.read_text().replace('"100 ohm m"', '"1 ohm m"'))
without = terrane.run(plain_job, output=output / "without", plots=False)

# 2. The inline field at the receivers, source 0: complex, [frequency, receiver].
e, e_without = (np.asarray(result["e_e"])[0] for result in (with_resistor, without))
offset = np.asarray(with_resistor["receiver_easting"])
for frequency, there, plain in zip((0.25, 0.5), np.abs(e), np.abs(e_without)):
    for x, a, b in zip(offset, there, plain):
        print(f"{frequency:5} Hz {x:6.0f} m  {a:.3e} V/m, without the resistor {b:.3e}: {a / b:.2f} times")

# 3. The picture.
try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit(0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
for n, frequency in enumerate((0.25, 0.5)):
    colour = f"C{n}"
    axes[0].semilogy(offset / 1000, np.abs(e[n]), "o-", color=colour, label=f"{frequency} Hz")
    axes[0].semilogy(offset / 1000, np.abs(e_without[n]), "--", color=colour, label=f"{frequency} Hz, no resistor")
    axes[1].plot(offset / 1000, np.abs(e[n]) / np.abs(e_without[n]), "o-", color=colour, label=f"{frequency} Hz")
axes[0].set(xlabel="offset, km", ylabel="inline electric field, V/m per A m")
axes[1].set(xlabel="offset, km", ylabel="with over without the resistor")
for a in axes:
    a.legend(frameon=False, fontsize=8)
    a.grid(alpha=0.3)
figure.savefig(output / "marine_line.png", dpi=110)
