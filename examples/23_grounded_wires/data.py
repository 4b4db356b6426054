"""How data.csv was made: the fields of truth.toml away from the wires, with noise of 3 %, from sines so that any
machine gives the same.

    terrane run truth.toml && python data.py output/truth.csv data.csv
"""

import csv
import math
import sys

WIRES = {1: (-2500, -1500), 2: (1500, 2500)}


def noise(number):
    """Three sines of unlike periods are nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


def main(truth, out):
    with open(truth, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [name.split(" [")[0] for name in rows[0]]
    with open(out, "w", encoding="utf-8", newline="\n") as file:
        file.write("source,frequency [Hz],receiver,receiver_easting [m],e_e_real [V/m],e_e_imag [V/m]\n")
        for number, row in enumerate(rows[1:]):
            at = dict(zip(names, map(float, row)))
            west, east = WIRES[int(at["source"])]
            if west - 1000 < at["receiver_easting"] < east + 1000:
                continue  # four cells of 250 m at least
            field = complex(at["e_e_real"], at["e_e_imag"])
            field += 0.03 * abs(field) * complex(noise(2 * number), noise(2 * number + 1))
            file.write(f"{at['source']:.0f},{at['frequency']:g},{at['receiver']:.0f},{at['receiver_easting']:g},"
                       f"{field.real:.5g},{field.imag:.5g}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
