"""An inversion in SimPEG whose forward calculation and sensitivities are Terrane's: one import is changed.

    python script.py [--engine simpeg] [--output FOLDER]      needs simpeg and matplotlib

With --engine simpeg everything is SimPEG's, for comparison.
"""

import argparse
import time
from pathlib import Path

import discretize
import matplotlib
import numpy as np
from discretize.utils import active_from_xyz
from simpeg import (data, data_misfit, directives, inverse_problem, inversion, maps, optimization, regularization)
from simpeg.potential_fields import gravity

arguments = argparse.ArgumentParser()
arguments.add_argument("--engine", choices=("terrane", "simpeg"), default="terrane")
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
given = arguments.parse_args()
given.output.mkdir(parents=True, exist_ok=True)

# The line that changes.
if given.engine == "terrane":
    from terrane.compat import Simulation3DIntegral
else:
    from simpeg.potential_fields.gravity import Simulation3DIntegral

# 1. Data and topography of example 24: GRAV3D's gz is positive downward, SimPEG's upward.
files = Path(__file__).resolve().parent.parent / "24_grav3d"
observed = np.loadtxt(files / "gravity.grv", skiprows=1)
topography = np.loadtxt(files / "topography.topo", skiprows=1)

# 2. Cells of 5 m below the survey, wider outside of it.
across, down = [(5, 4, -1.5), (5, 36), (5, 4, 1.5)], [(5, 4, -1.5), (5, 14)]
mesh = discretize.TensorMesh([across, across, down], origin="CCN")
mesh.origin = mesh.origin + np.r_[0, 0, topography[:, 2].max()]
active = active_from_xyz(mesh, topography)
cells = int(active.sum())

# 3. Survey, simulation, misfit. All of SimPEG's own but the simulation.
receivers = gravity.receivers.Point(observed[:, :3], components="gz")
survey = gravity.survey.Survey(gravity.sources.SourceField([receivers]))
simulation = Simulation3DIntegral(survey=survey, mesh=mesh, rhoMap=maps.IdentityMap(nP=cells), active_cells=active)
misfit = data_misfit.L2DataMisfit(
    data=data.Data(survey, dobs=-observed[:, 3], standard_deviation=observed[:, 4]), simulation=simulation)

# 4. A smooth model with sensitivity weights; β falls by a factor of 3 until the misfit is that of the noise.
smooth = regularization.WeightedLeastSquares(mesh, active_cells=active, alpha_s=1.0, length_scale_x=4.0,
                                             length_scale_y=4.0, length_scale_z=4.0, reference_model=np.zeros(cells))
optimiser = optimization.ProjectedGNCG(maxIter=20, cg_maxiter=20, cg_rtol=1e-3)
problem = inverse_problem.BaseInvProblem(misfit, smooth, optimiser)
steps = [directives.UpdateSensitivityWeights(every_iteration=False),
         directives.BetaEstimate_ByEig(beta0_ratio=10, random_seed=0), directives.UpdatePreconditioner(),
         directives.BetaSchedule(coolingFactor=3, coolingRate=1), directives.TargetMisfit(chifact=1)]
begin = time.process_time()
model = inversion.BaseInversion(problem, steps).run(1e-4 * np.ones(cells))
print(f"{given.engine}: {time.process_time() - begin:.1f} s of CPU, χ²/N {misfit(model) / survey.nD:.4f}, "
      f"{1000 * model.min():.2f} … {1000 * model.max():.2f} kg/m³")
np.save(given.output / f"model_{given.engine}.npy", model)

# 5. A section through both bodies.
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

density = np.full(mesh.nC, np.nan)
density[active] = 1000 * model
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
most = 1000 * np.abs(observed[:, 3]).max()
dots = axes[0].scatter(observed[:, 0], observed[:, 1], c=-1000 * observed[:, 3], s=60, cmap="RdBu_r", vmin=-most,
                       vmax=most)
axes[0].set(title="observed gz, up [µGal]", xlabel="easting [m]", ylabel="northing [m]", aspect="equal")
figure.colorbar(dots, ax=axes[0], shrink=0.9)
image = axes[1].pcolormesh(mesh.nodes_x, mesh.nodes_z, density.reshape(mesh.shape_cells, order="F")[
    :, np.searchsorted(mesh.nodes_y, -2.5) - 1, :].T, cmap="RdBu_r", vmin=-60, vmax=60)
axes[1].set(title="density along northing 0 [kg/m³]", xlabel="easting [m]", ylabel="up [m]", aspect="equal",
            xlim=(-110, 110), ylim=(10, 105))
figure.colorbar(image, ax=axes[1], shrink=0.9)
figure.savefig(given.output / "simpeg.png", dpi=75)
