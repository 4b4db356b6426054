// One rank's part of the medium and of the work of a step: which nodes it has, what their coefficients are,
// and which of them layers reach.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/physics/acoustic/march/host_kernels.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// A layer on one side of the whole, where this rank has some of it.
struct Slab {
  int axis, side;
  IndexBox<3> layer;   ///< its nodes in this rank's part
  IndexBox<3> arrays;  ///< of ψ and ζ: what stencils of the CPU read around it, too
};

/// Which rank has which nodes. Rows along easting stay whole; a layer lies in one part, with the nodes that
/// it reaches. Throws InputError: too many ranks for that.
Cartesian<3> cut_grid(const Problem& problem, int ranks);

/// Cuts `box` out of `from`; what is left, as boxes.
std::vector<IndexBox<3>> without(IndexBox<3> from, const IndexBox<3>& box);

/// Whether rank 0 alone has the values of the problem's medium: others get those of their own nodes, some
/// planes at a time, as they put them into the arrays of their device, and none keeps them on the host.
enum class Dealt { no, yes };
/// Of planes of an array that are made together on the host.
inline constexpr double bytes_of_planes_at_once = 1 << 22;

template <class T>
class Medium {
 public:
  /// Collective among the ranks of `cut`.  dealt_by: these, where rank 0 deals out the medium.  Throws
  /// MemoryError.
  Medium(const Problem& problem, Stream& stream, Cartesian<3> cut, int rank, Comm* dealt_by = nullptr);

  const Problem& problem() const noexcept { return problem_; }
  const Cartesian<3>& cut() const noexcept { return cut_; }
  int rank() const noexcept { return rank_; }
  const IndexBox<3>& part() const noexcept { return part_; }
  /// The mesh's nodes in the part.
  IndexBox<3> mesh() const { return overlap(part_, problem_.grid.box()); }
  /// The indices of a field: the part, what stencils read around it, rows padded to whole cache lines.
  const IndexBox<3>& box() const noexcept { return box_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(box_.count()); }
  /// Nodes on each side that a step reads.
  Index reach() const noexcept { return reach_; }
  Kernel kernel() const { return {problem_.equation, points_}; }
  int fields() const { return problem_.fields(); }

  /// Everything but fields and ψ, ζ.
  StepArguments<T> arguments() const { return arguments_; }
  const std::vector<Slab>& slabs() const noexcept { return slabs_; }
  /// Nodes that neighbours need, and all others; and both together.
  const std::vector<Region>& edges() const noexcept { return edges_; }
  const std::vector<Region>& inner() const noexcept { return inner_; }
  const std::vector<Region>& all() const noexcept { return all_; }
  bool on_edge(const std::array<Index, 3>& node) const;
  /// v²Δt² of each node of the box (ρv²Δt²); 0 outside the whole.
  View<const T, 3> squared() const { return squared_.view(box_); }
  /// Bytes of a wave, its fields and layers, and where it is kept (keeps_along()) G p and G q of a tilted
  /// axis; and of the medium.
  static double bytes_of_wave(const Problem& problem, bool along);
  static double bytes_of_medium(const Problem& problem);

 private:
  using Values = std::vector<double> Problem::*;
  /// Of each node that is held value(problem, its indices, the node there whose medium it has): a problem
  /// that has what the value is made of, of some planes perhaps.
  template <class Value>
  Buffer<T> filled(Stream& stream, const IndexBox<3>& held, std::span<const Values> of,
                   const Value& value) const;
  void deal(std::span<const Values> of) const;
  void fill_medium(Stream& stream);
  void fill_axes(Stream& stream);
  void fill_layers(Stream& stream);
  void make_regions();

  const Problem& problem_;
  Cartesian<3> cut_;
  int rank_;
  Comm* dealt_by_;
  IndexBox<3> part_, box_;
  Index points_, reach_;
  StepArguments<T> arguments_;
  std::vector<Slab> slabs_;
  std::vector<Region> edges_, inner_, all_;
  std::vector<IndexBox<3>> edge_boxes_;
  Buffer<T> squared_, half_density_, wide_, mixed_;
  std::array<Buffer<T>, 3> normal_;
  std::array<std::array<Buffer<T>, 2>, 3> a_, b_, a_psi_, b_psi_;
  std::array<Buffer<T>, 3> damping_;
};

}  // namespace terrane::acoustic
