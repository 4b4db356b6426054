// Fields of sources at receivers: one solve for each source and frequency; the networks of the model serve
// all.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/electromagnetic/parameters.hpp"
#include "terrane/physics/electromagnetic/survey/sampling.hpp"

namespace terrane::electromagnetic {

struct Problem {
  TensorMesh mesh;
  std::array<std::vector<double>, 3> conductivity;  ///< S/m, [up, north, east], along up, north, east;
                                                    ///< the last two may be empty: as the first
  std::vector<Source> sources;
  std::vector<double> frequencies;  ///< Hz
  std::vector<Vector3> receivers;
  std::vector<Component> components;
  Parameters parameters;

  Conductivity along() const;
  /// Of the cell of a point in the mesh, along up.
  double conductivity_at(const Vector3& point) const;
  std::size_t solves() const { return sources.size() * frequencies.size(); }
  std::size_t data_of_a_solve() const { return receivers.size() * components.size(); }
  /// Bytes on the host and on the device.
  double memory() const;
  /// Throws InputError: nothing to send, to record or to compute; a frequency that is not positive; a point
  /// outside of the mesh.
  void check() const;
  /// Lines for the user, about cells too coarse for the skin depth and walls that are too near.
  std::vector<std::string> warnings() const;
};

/// "e_e", "h_u".
std::string name(const Component& component);

struct Solve {
  solve::Reason reason = solve::Reason::converged;
  int iterations = 0;
  double residual = 0;
  double change = 0;      ///< at receivers, of the last iteration
  double divergence = 0;  ///< MaxwellSolver::divergence
  bool rough = false;

  bool converged() const { return reason == solve::Reason::converged; }
};

struct Outcome {
  std::vector<std::complex<double>> data;  ///< [source, frequency, component, receiver], V/m and A/m
  std::vector<Solve> solves;               ///< [source, frequency]
};

/// Collective: all ranks pass the same problem, and each does the solves that are its turn; rank 0 returns
/// all of them. The same bits for any number of threads and ranks. A solve that does not converge is in the
/// outcome, its data as they are.  Throws InputError, MemoryError, Cancelled: on all ranks.
Outcome forward(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr);

}  // namespace terrane::electromagnetic
