"""Draw the image: python picture.py output/image.nc [channel.png]

Prints how bright the image is over the channel, compared with beside it, and the depth of the interface below, where the
image changes its sign between its strongest values of either.
"""

import sys

import netCDF4
import numpy as np

CHANNEL = [[0, 340], [340, 340], [500, 500], [560, 820], [760, 1000], [1200, 1000],
           [1200, 820], [840, 820], [740, 720], [680, 400], [440, 160], [0, 160]]


def inside(easting, northing):
    """[northing, easting] whether a place is over the channel."""
    x, y = np.meshgrid(easting, northing)
    found = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(CHANNEL, CHANNEL[1:] + CHANNEL[:1]):
        crosses = (y0 > y) != (y1 > y)
        found ^= crosses & (x < x0 + (x1 - x0) * (y - y0) / (y1 - y0 if y1 != y0 else 1))
    return found


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        image = data["image_filtered"][:].data
        up, northing, easting = (data[name][:].data for name in ("up", "northing", "easting"))
    level = (up > -400) & (up < -300)
    strength = np.sqrt((image[level] ** 2).mean(axis=0))
    over = inside(easting, northing)
    lit = (abs(easting[None, :] - 600) < 400) & (abs(northing[:, None] - 600) < 400)  # where shots surround the place
    print(f"over the channel {strength[over & lit].mean() / strength[~over & lit].mean():.2f} times as bright as beside it")
    below = (up < -460) & (up > -620)
    trace = image[below][:, 10:50, 40:50].mean(axis=(1, 2))  # a part beside the channel
    print(f"reflector at {-(up[below][trace.argmax()] + up[below][trace.argmin()]) / 2:.0f} m")
    if picture:
        draw(image, strength, up, northing, easting, picture)


def draw(image, strength, up, northing, easting, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 4.6), layout="constrained")
    axes = figure.add_subplot(1, 2, 1, projection="3d")
    deep = up < -150
    most = abs(image[deep]).max() / 2
    x, y = np.meshgrid(easting, northing)
    level = abs(up + 350).argmin()
    colour = plt.get_cmap("gray")
    shade = lambda values: colour(np.clip(0.5 + values / (2 * most), 0, 1))
    axes.plot_surface(x, y, np.full_like(x, up[level]), facecolors=shade(image[level]), rstride=1, cstride=1, shade=False)
    for_wall, height = np.meshgrid(easting, up[deep])
    axes.plot_surface(for_wall, np.full_like(for_wall, northing[-1]), height, facecolors=shade(image[deep][:, len(northing) // 2]), rstride=1,
                      cstride=1, shade=False)
    for_wall, height = np.meshgrid(northing, up[deep])
    axes.plot_surface(np.full_like(for_wall, easting[0]), for_wall, height, facecolors=shade(image[deep][:, :, len(easting) // 2]), rstride=1,
                      cstride=1, shade=False)
    axes.set(xlabel="easting (m)", ylabel="northing (m)", zlabel="up (m)", title="Slice at 350 m; on the walls, sections through the middle")
    right = figure.add_subplot(1, 2, 2)
    half = (easting[1] - easting[0]) / 2
    right.imshow(strength, origin="lower", extent=(easting[0] - half, easting[-1] + half, northing[0] - half, northing[-1] + half),
                 cmap="magma", vmax=np.quantile(strength, 0.98))
    outline = np.array(CHANNEL + CHANNEL[:1])
    right.plot(*outline.T, "w--", lw=0.8)
    right.set(xlabel="easting (m)", ylabel="northing (m)", title="Amplitude between 300 and 400 m")
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(*sys.argv[1:3])
