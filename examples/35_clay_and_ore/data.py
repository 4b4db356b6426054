"""How arrays.csv was made: the data of truth.toml with noise of 3 % and of 1 mV/V, from sines so that any machine
gives the same.

    terrane run truth.toml && python data.py output/truth.csv arrays.csv
"""

import csv
import math
import sys


def main(truth, out):
    with open(truth, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [name.split(" [")[0] for name in rows[0]]
    places = [f"{letter}_{axis}" for letter in "abmn" for axis in ("easting", "northing")]
    with open(out, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(f"{name} [m]" for name in places)
                   + ",apparent_resistivity_observed [ohm m],chargeability_observed [mV/V]\n")
        for number, row in enumerate(rows[1:]):
            at = dict(zip(names, map(float, row)))
            # Three sines of unlike periods are nearly normal, with a deviation of 1.
            noise, other = (sum(math.sqrt(2 / 3) * math.sin(rate * (number + begin)) for rate in (12.9898, 78.233, 37.719))
                            for begin in (1, 1001))
            rho = at["apparent_resistivity"] * math.exp(0.03 * noise)
            file.write(",".join(f"{at[name]:g}" for name in places) + f",{rho:.4g},{at['chargeability'] + other:.3f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
