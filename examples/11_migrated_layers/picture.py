"""Draw the gather and the image: python picture.py output/image.nc [output/gather.nc picture.png]

Prints where, below easting 700 m, the image changes its sign between its strongest values of either: layers begin
there, at 400 and 700 m.
"""

import sys

import netCDF4


def main(file, gather=None, picture=None):
    with netCDF4.Dataset(file) as data:
        image = data["image_filtered"][:, 0, :].data
        up, easting = data["up"][:].data, data["easting"][:].data
    column = abs(easting - 700).argmin()
    for top, bottom in ((-300, -500), (-600, -800)):
        part = (up < top) & (up > bottom)
        trace = image[part, column]
        print(f"reflector at {-(up[part][trace.argmax()] + up[part][trace.argmin()]) / 2:.0f} m")
    if not picture:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with netCDF4.Dataset(gather) as data:
        pressure, time = data["pressure"][0].data, data["time"][:].data
        receiver = data["receiver_easting"][:].data
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    most = abs(pressure[time > 0.5]).max()
    left.imshow(pressure, extent=(receiver[0], receiver[-1], time[-1], time[0]), aspect="auto", cmap="gray",
                vmin=-most, vmax=most)
    left.set(xlabel="easting (m)", ylabel="time (s)", title="Gather of a shot at 1200 m")
    deep = up < -150
    most = abs(image[deep]).max() / 2
    right.imshow(image[::-1], extent=(easting[0], easting[-1], up[0], up[-1]), aspect="auto", cmap="gray",
                 vmin=-most, vmax=most)
    right.set(xlabel="easting (m)", ylabel="up (m)", title="Image of eleven shots")
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(*sys.argv[1:4])
