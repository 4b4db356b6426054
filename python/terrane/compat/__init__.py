"""Faces of other programs: one changed import, the same numbers.

==========================================================  ========================================================
``harmonica.prism_gravity``                                  :func:`prism_gravity`
``harmonica.prism_magnetic``                                 :func:`prism_magnetic`
``harmonica.prism_layer``, ``layer.prism_layer.gravity``     :func:`prism_layer` and its accessor
``simpeg.potential_fields.gravity.Simulation3DIntegral``     :class:`Simulation3DIntegral`
``simpeg.potential_fields.magnetics.Simulation3DIntegral``   :class:`MagneticSimulation3DIntegral`
``static.resistivity.Simulation3DNodal``, ``CellCentered``   :class:`Simulation3DNodal`, `Simulation3DCellCentered`
``emg3d.solve``, ``emg3d.Simulation``                        ``from terrane.compat import emg3d`` (needs emg3d)
``emg3d.load``, ``emg3d.save``                               module :mod:`terrane.compat.emg3d_files` (without emg3d)
``deepwave.scalar``, ``deepwave.scalar_born``                 module :mod:`terrane.compat.deepwave`
elastic seismograms as miniSEED, SAC, SEG-Y, ASDF            module :mod:`terrane.compat.obspy` (needs ObsPy)
elastic seismograms as text files of SPECFEM3D               module :mod:`terrane.compat.specfem`
==========================================================  ========================================================
"""

from __future__ import annotations

from .harmonica import prism_gravity, prism_layer, prism_magnetic
from .simpeg import MagneticSimulation3DIntegral, Simulation3DIntegral
from .simpeg_dc import Simulation3DNodal
from .simpeg_dc_cells import Simulation3DCellCentered

__all__ = ["MagneticSimulation3DIntegral", "Simulation3DCellCentered", "Simulation3DIntegral", "Simulation3DNodal",
           "prism_gravity", "prism_layer", "prism_magnetic"]


def __dir__() -> list[str]:
    return sorted(__all__)
