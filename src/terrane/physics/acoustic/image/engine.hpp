// Operators of one shot, on all ranks of a Comm: modelling F, its derivative J with respect to the medium
// (Born modelling), the adjoint Jᵀ, and images.
//
//   F(m)      d = R p                                   p: the wave of the source; R: the receivers
//   J δm      d = R δp  δp: the wave of the source −δm aⁿ in the same medium,  aⁿ = (pⁿ⁺¹ − 2pⁿ + pⁿ⁻¹)/Δt²
//   Jᵀ r      −Σ_n p̃^{N−1−n} aⁿ,  p̃: the wave of the receivers, which send r reversed in time
//
// d: traces of the receivers; n: time step, of N. Images at a lag h along easting are Σ_n p(x − h) p̃(x + h),
// zero if either point is outside the mesh. If the velocity is right, both waves coincide at the reflector,
// and the image at h = 0 has most of the energy.
//
// In a VTI or TTI medium J uses the second time differences a of both p and q. Jᵀ uses those of the adjoint
// wave instead, from its wave equation: Σ v² C⁻¹a · (p̃, q̃) = Σ v² (H p̃ + 2f̃/3, V q̃ + f̃/3) · (p, q).
// f̃: the source term of the adjoint wave, from r; C, H, V: problem.hpp.
//
// Jᵀ is the exact adjoint for every boundary, because layers are symmetric up to a factor that is 1 on the
// mesh (problem.hpp). m = 1/v², s²/m².
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/reduce/reduce.hpp"
#include "terrane/physics/acoustic/image/history.hpp"
#include "terrane/physics/acoustic/snapshots.hpp"
#include "terrane/simulation/field_watch.hpp"

namespace terrane::acoustic {

struct Images {
  std::vector<double> kernel;        ///< Jᵀ r, with respect to m
  std::vector<double> correlation;   ///< Σ p p̃: the zero-lag cross-correlation of both waves
  std::vector<double> illumination;  ///< Σ p² of the source's wave
  std::vector<double> at_lags;       ///< [lags, nodes]: h from −lags to lags cells; empty without lags

  template <class Self, class Field>
  static void fields(Self& i, Field& field) {
    field("kernel", i.kernel, carried("images"));
    field("correlation", i.correlation, carried("images"));
    field("illumination", i.illumination, carried("images"));
    field("at_lags", i.at_lags, carried("images"));
  }
};

/// Snapshots of a wave while it is modelled. A pass over memory (Passes), or a CUDA graph, ends at the step
/// of a snapshot.
struct Watch {
  Snapshots snapshots;
  /// Called on rank 0 with the pressure, Pa, of snapshot n at snapshots.nodes().
  std::function<void(std::size_t n, std::span<const float> values)> take;
};

/// Series of the sources are [steps], traces of the receivers [steps, receivers]. Both are passed and
/// returned on rank 0, and are not corrected for time dispersion here.
template <class T>
class Engine {
 public:
  /// Collective. problem: settled; the same on all ranks, or with its medium on rank 0 only (Dealt). problem,
  /// stream and comm must outlive the engine.
  Engine(const Problem& problem, Stream& stream, Comm& comm, Dealt dealt = Dealt::no);

  /// How halos are sent (Wave::transport()); may be empty.
  std::string transport() const { return wave_.transport(); }
  /// Whether steps of modelling are launched as CUDA graphs if possible; results are bitwise identical.
  void use_graphs(bool yes) noexcept { graphs_ = yes; }
  /// The passes over memory, equal on all ranks, by which modelling and Born modelling compute several steps;
  /// a migration uses them in an isotropic medium if it stores nothing on a disk (images_in_passes()).
  /// Results are bitwise identical with any passes.
  const Passes& passes() const noexcept { return passes_; }
  void use_passes(const Passes& passes) { passes_ = agreed(passes, comm_); }  ///< collective
  /// Sets where the records of the source's wave are stored (strategies store, compressed and boundary); by
  /// default in memory.
  void keep_in(KeptIn place, const std::string& folder) { room_.place = place, room_.folder = folder; }

  /// This and all following functions are collective.
  /// watch: gets snapshots of the wave that receivers record; may be null.
  std::vector<double> model(const Shot& shot, const std::vector<double>& series, Progress* progress = nullptr,
                            const Watch* watch = nullptr);
  std::vector<double> born(const Shot& shot, const std::vector<double>& series,
                           const std::vector<double>& change, Progress* progress = nullptr,
                           const Watch* watch = nullptr);
  /// lags: largest shift of the two waves, in cells to either side; 0: no images at lags are computed.
  Images adjoint(const Shot& shot, const std::vector<double>& series, const std::vector<double>& data,
                 Keeping strategy, Progress* progress = nullptr, Index lags = 0);

 private:
  std::vector<double> shared(const std::vector<double>& on_rank_0);
  std::vector<double> gather_mesh(const Buffer<T>& field);
  std::vector<double> scales_of(const std::vector<Place>& sources);
  void by_density(std::vector<double>& values) const;
  Buffer<T> of_mesh(const std::vector<double>& values);
  Index look(const Watch* watch, const Wave<T>& wave, Index n);
  bool goes_on(Progress* progress, std::uint64_t steps);
  void look_at(FieldWatch& watch, const Wave<T>& wave, Index done, double time);
  FieldPlace largest_place(const Wave<T>& wave);
  void scatter_in_pass(Wave<T>& scattered, Index count, const Sources<T>& sources, Receivers<T>& receivers,
                       std::vector<Buffer<T>>& before, const Buffer<T>& change);
  void keep_in_pass(History<T>& history, Index n, Index count, const Sources<T>& sources);
  Buffer<T> over_step_squared(const std::vector<double>& change);
  void keep_source_wave(History<T>& history, const Sources<T>& sources, FieldWatch field, Progress* progress);
  struct Backward;
  void image_with_axis(Backward& back, History<T>& history, Index n);
  void image(Backward& back, History<T>& history, Index n);
  void image_in_pass(Backward& back, History<T>& history, Index n, Index count);
  void image_all(Backward& back, History<T>& history, Progress* progress);

  const Problem& problem_;
  Stream& stream_;
  Comm& comm_;
  Medium<T> medium_;
  Wave<T> wave_;
  Clock clock_;
  Index steps_;
  bool graphs_ = true;
  Passes passes_;
  RecordRoom room_;
  Alone alone_;  // a Comm of this rank alone, for maxima over its own nodes
  std::optional<Reduction<1>> looks_;
};

}  // namespace terrane::acoustic
