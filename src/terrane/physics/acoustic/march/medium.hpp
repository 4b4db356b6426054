// One rank's part of the medium: its nodes, their coefficients, and the regions in which steps are computed,
// one for each combination of absorbing layers that affect the nodes.
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

/// This rank's part of an absorbing layer on one side of the grid.
struct Slab {
  int axis, side;
  IndexBox<3> layer;   ///< nodes of the absorbing layer in this rank's part
  IndexBox<3> arrays;  ///< nodes of the arrays ψ and ζ: on a CPU also those around the absorbing layer that
                       ///< stencils read
};

/// Cuts the grid into the ranks' parts. Rows along easting are not cut; no cut crosses an absorbing layer
/// parallel to its face, or the nodes that it affects. Throws InputError if there are too many ranks for
/// that.
Cartesian<3> cut_grid(const Problem& problem, int ranks);

/// Removes `box` from `from`, and returns the rest as boxes.
std::vector<IndexBox<3>> without(IndexBox<3> from, const IndexBox<3>& box);

/// Whether only rank 0 has the values of the problem's medium. If so, it sends every other rank the values at
/// that rank's nodes, some planes at a time; the ranks copy them to their devices, not keeping them on the
/// host.
enum class Dealt { no, yes };
/// Bytes of the planes of an array that are prepared together on the host.
inline constexpr double bytes_of_planes_at_once = 1 << 22;

template <class T>
class Medium {
 public:
  /// Collective among the ranks of `cut`.  dealt_by: the Comm of these ranks if only rank 0 has the medium
  /// (Dealt), else null.  Throws MemoryError.
  Medium(const Problem& problem, Stream& stream, Cartesian<3> cut, int rank, Comm* dealt_by = nullptr);

  const Problem& problem() const noexcept { return problem_; }
  const Cartesian<3>& cut() const noexcept { return cut_; }
  int rank() const noexcept { return rank_; }
  const IndexBox<3>& part() const noexcept { return part_; }
  /// The mesh's nodes in the part.
  IndexBox<3> mesh() const { return overlap(part_, problem_.grid.box()); }
  /// The nodes of a field in memory: the part, those that stencils read around it, and padding of rows to
  /// whole cache lines.
  const IndexBox<3>& box() const noexcept { return box_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(box_.count()); }
  /// Number of nodes on each side of a node that a step reads.
  Index reach() const noexcept { return reach_; }
  Kernel kernel() const { return {problem_.equation, points_}; }
  int fields() const { return problem_.fields(); }

  /// Arguments of steps, without the pointers to fields, ψ and ζ, which a Wave adds.
  StepArguments<T> arguments() const { return arguments_; }
  const std::vector<Slab>& slabs() const noexcept { return slabs_; }
  /// edges: regions of the nodes whose values neighbouring ranks need; inner: regions of all other nodes;
  /// all: edges and inner together.
  const std::vector<Region>& edges() const noexcept { return edges_; }
  const std::vector<Region>& inner() const noexcept { return inner_; }
  const std::vector<Region>& all() const noexcept { return all_; }
  bool on_edge(const std::array<Index, 3>& node) const;
  /// v²Δt² of each node of the box, with variable density ρv²Δt²; 0 outside the whole grid.
  View<const T, 3> squared() const { return squared_.view(box_); }
  /// Bytes of a wave: its fields, its ψ and ζ, and, if `along` (keeps_along()), G p and G q of a tilted axis;
  /// and bytes of the medium.
  static double bytes_of_wave(const Problem& problem, bool along);
  static double bytes_of_medium(const Problem& problem);

 private:
  using Values = std::vector<double> Problem::*;
  /// An array over the nodes of `held`, filled by value(problem, indices of the node, mesh node from which it
  /// gets its medium). The problem that value() gets has only the vectors in `of`, and only some planes of
  /// them if rank 0 sends the medium (Dealt).
  template <class Value>
  Buffer<T> filled(Stream& stream, const IndexBox<3>& held, std::span<const Values> of,
                   const Value& value) const;
  template <class Value>
  void fill_row(T* to, const IndexBox<3>& piece, const IndexBox<3>& held, std::array<Index, 3> at,
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
