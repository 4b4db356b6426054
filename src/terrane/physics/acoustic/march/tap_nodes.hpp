// The nodes of a rank at which sources act and receivers record, in lists as a device needs them: made on the
// host, by all threads, from the weights of weights.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/physics/acoustic/march/medium.hpp"
#include "terrane/physics/acoustic/weights.hpp"

namespace terrane::acoustic {

/// The nodes with weights of sources, sorted by their place in memory; the weights of a node are in the order
/// of the sources.
template <class T>
struct SourceNodes {
  std::vector<Index> offset;  ///< [nodes] offset in a field
  std::vector<Index> first;   ///< [nodes + 1] index of a node's first weight; the number of weights
  std::vector<int> source;    ///< [weights] index of the source
  std::vector<Part> part;     ///< [weights]; empty if all are pressures
  std::vector<T> weight;
};

/// The nodes of the rank's edges (Medium::on_edge) and all others. taps: position and component of each
/// source, which has the weights of a receiver with this tap; scales: factors of each source's weights;
/// within: nodes outside this box are left out. Throws InputError if there are more than 2³² weights.
template <class T>
std::array<SourceNodes<T>, 2> nodes_of_sources(const Medium<T>& medium, std::span<const Tap> taps,
                                               std::span<const double> scales, const IndexBox<3>& within,
                                               int threads);

/// The nodes of a receiver that lie in one row along easting.
struct ReceiverRow {
  std::int32_t plane;
  Part part;            ///< the field that is read at these nodes
  Index offset, count;  ///< offset of the first node in a field; number of nodes
  std::size_t weights;  ///< index of the first node's weight
};

/// The nodes from which receivers interpolate, as rows of adjacent nodes. A row also contains the nodes of
/// its gaps, which the receiver does not use; their weight is zero.
template <class T>
struct ReceiverRows {
  std::vector<std::vector<int>> owner;     ///< [taps][rows] rank of each row; one entry if one rank has all
  std::vector<std::vector<Index>> planes;  ///< [taps][rows] the plane of each row
  std::vector<ReceiverRow> rows;           ///< the rows of this rank
  /// [sums + 1] index of the first row of each sum that this rank computes, and the number of rows. A tap is
  /// one sum if one rank has all its rows, else each row is one.
  std::vector<Index> first;
  std::vector<T> weights;
};

template <class T>
ReceiverRows<T> rows_of_receivers(const Medium<T>& medium, std::span<const Tap> taps, int threads);

}  // namespace terrane::acoustic
