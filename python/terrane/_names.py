"""Names that functions take, so that type checkers refuse others and editors complete them; a test compares the engine's."""

from __future__ import annotations

from typing import Literal, Sequence, Union

#: Axes, signs and names of other programs.
Frame = Literal["enu", "harmonica", "simpeg", "ubc", "tomofast"]
#: Of gravity, in all frames.
GravityChannel = Literal[
    "all", "vector", "tensor", "potential", "g_e", "g_n", "g_u", "g_ee", "g_nn", "g_uu", "g_en", "g_eu", "g_nu", "g_z",
    "g_zz", "g_ez", "g_nz", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz", "xx", "yy", "zz", "xy", "xz", "yz"]
GravityChannels = Union[GravityChannel, Sequence[GravityChannel]]
#: Of magnetics, in all frames.
MagneticChannel = Literal["b_e", "b_n", "b_u", "tmi", "b_amplitude", "bx", "by", "bz"]
MagneticChannels = Union[MagneticChannel, Sequence[MagneticChannel]]
Units = Literal["geo", "si"]
SampleName = Literal[
    "gravity", "magnetic", "magnetization", "joint", "electric", "electromagnetic", "magnetotelluric", "acoustic",
    "traveltime"]
#: What can be inverted.
InversionPhysics = Literal["gravity", "magnetic", "electric", "electromagnetic", "acoustic", "traveltime"]
Method = Literal["auto", "direct", "lattice", "tree", "fmm"]
Precision = Literal["double", "single"]
Singular = Literal["nan", "mean", "outside", "inside"]
Partition = Literal["auto", "stations", "prisms"]
Storage = Literal["single", "double", "none", "lattice", "tree", "fmm"]
#: Of files.
Format = Literal[
    "netcdf", "hdf5", "emg3d", "emg3d-survey", "csv", "ubc-mesh", "ubc-density", "ubc-model", "ubc-gravity", "ubc-magnetic",
    "ubc-gradient", "ubc-dcip", "bert", "geosoft-xyz", "res2dinv", "syscal", "sting", "r2-protocol", "modem-data", "modem-model", "edi", "geotiff",
    "esri", "surfer", "surfer-text", "npy", "segy", "segy-ibm", "su", "su-xdr", "rsf", "vtr", "vtkhdf", "vts",
    "tomofast-grid", "gmsh", "specfem-mesh", "specfem-par", "specfem-sources", "specfem-stations", "specfem-tomography",
    "tomofast-data"]
