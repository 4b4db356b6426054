// The part of the lattice method that is the same on every device: the lattice found in lists of prisms and
// stations, the sizes of its convolutions, its parts, and stations inside and on cells.
//
//   field(s) = Σ_layers Σ_c K_layer(s − c) ρ_layer(c),   s, c: position of station and cell, in whole cells
//
// K_layer: the field of one cell of the layer with density 1; ρ_layer: densities of the layer's cells.
// Horizontally the mesh must be evenly spaced; layers may have any thickness, cells may be missing, and no
// two cells of a layer may overlap. Stations are divided into groups of one height and one offset from the
// cells: a grid with the spacing of the cells is one group, a grid q times finer is q² groups. Grids need not
// be complete.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "terrane/base/function.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// The lattice that was recognised in lists of prisms and stations.
struct Lattice {
  struct Layer {
    double bottom, top;  // m
  };
  /// Stations of one height and one position within the cells.
  struct Group {
    double offset[2];      ///< position relative to the centre of cell (0, 0), in cells, within [−0.5, 0.5)
    double up;             ///< m
    long low[2], high[2];  ///< lowest and highest cell that contains a station
    std::vector<std::uint32_t> station;
    std::vector<std::int32_t> cell[2];  ///< cell of each station
  };
  double corner[2] = {}, spacing[2] = {};  ///< west and south of cell (0, 0); sides of a cell, m
  std::size_t cells[2] = {};
  std::vector<Layer> layers;         ///< layers from the lowest to the highest
  std::vector<std::uint32_t> place;  ///< [prisms] cell: east + cells[0] · (north + cells[1] · layer)
  std::vector<Group> groups;

  std::size_t plane() const { return cells[0] * cells[1]; }
  /// A cell of the layer, centred on the vertical axis.
  Prism cell(std::size_t layer) const {
    return {-0.5 * spacing[0], 0.5 * spacing[0],     -0.5 * spacing[1],
            0.5 * spacing[1],  layers[layer].bottom, layers[layer].top};
  }
};

/// Finds the lattice in lists of prisms and stations; empty if they do not form one, and `reason` then says
/// why. Coordinates may be off by a few units in the last place. Stops at the first prism that does not fit.
/// threads: 0 for all.
std::optional<Lattice> recognise_lattice(const Prisms& prisms, const Stations& stations, std::string& reason,
                                         int threads = 0);

/// Lags s − c of stations and cells along one axis: from low − (cells − 1) to high, with low and high the
/// lowest and highest cell of the stations. Lags also have indices in an array that wraps
/// around, and distances at which the table of K must be computed.
struct Lags {
  long low;           ///< lowest cell of the stations: the lag at index 0
  long first, count;  ///< first lag, number of lags
  std::size_t size;   ///< length of the array: count, rounded up to a good length for FFTs
  /// Symmetry of the distances x(l) of lags l. 0: none; 1: x(−l) = −x(l), stations at centres of cells; 2:
  /// x(1 − l) = −x(l), stations at faces.
  int symmetry;
  double offset;              ///< offset of the stations from the centres of cells, in cells
  std::size_t distances = 0;  ///< number of distances in the table

  Lags(const Lattice::Group& group, int axis, std::size_t cells);

  TERRANE_FN std::size_t place(long lag) const {
    const long from_lowest = lag - low;
    return static_cast<std::size_t>(from_lowest >= 0 ? from_lowest : from_lowest + static_cast<long>(size));
  }
  /// The index of the distance that belongs to a lag.
  TERRANE_FN std::size_t index(long lag) const {
    if (symmetry == 1) return static_cast<std::size_t>(lag >= 0 ? lag : -lag);
    if (symmetry == 2) return static_cast<std::size_t>(lag >= 1 ? lag - 1 : -lag);
    return static_cast<std::size_t>(lag - first);
  }
  TERRANE_FN bool mirrored(long lag) const { return symmetry != 0 && static_cast<double>(lag) + offset < 0; }
  /// The i-th of the distances, in cells.
  TERRANE_FN double distance(std::size_t i) const {
    if (symmetry == 1) return static_cast<double>(i);
    if (symmetry == 2) return static_cast<double>(i) + 0.5;
    return static_cast<double>(first + static_cast<long>(i)) + offset;
  }
};

/// The sizes of one group's convolutions: real arrays, with rows padded for transforms in place.
struct Convolution {
  Lags lags[2];
  std::size_t row;    ///< complex numbers in a row
  std::size_t reals;  ///< doubles in an array

  Convolution(const Lattice::Group& group, const Lattice& lattice);
  std::size_t width() const { return 2 * row; }  ///< doubles in a row
  std::size_t distances() const { return lags[0].distances * lags[1].distances; }
  std::size_t size() const { return lags[0].size * lags[1].size; }
};

/// Channels that change sign with the easting or northing of the station.
inline constexpr ChannelSet odd_channels[2] = {{Channel::g_e, Channel::g_en, Channel::g_eu},
                                               {Channel::g_n, Channel::g_en, Channel::g_nu}};

/// Stations inside and on cells.
class LatticeContacts {
 public:
  LatticeContacts(const Lattice& lattice, std::span<const double> density, int threads)
      : lattice_(lattice), density_(density), threads_(threads) {}

  std::vector<Contact> of(const Lattice::Group& group);

 private:
  const std::vector<std::uint32_t>& prisms_of(std::size_t layer);

  const Lattice& lattice_;
  std::span<const double> density_;
  int threads_;
  // For each layer that contains stations: [cells of the layer] index of the prism.
  std::map<std::size_t, std::vector<std::uint32_t>> prisms_;
};

/// Interface of the convolutions on a device.
class Convolver {
 public:
  virtual ~Convolver() = default;
  /// Computes channels at the stations of a group; progress advances by the number of layers. Throws
  /// Cancelled, MemoryError.
  virtual void convolve(std::size_t group, ChannelSet channels, Progress& progress) = 0;
  /// The result of the last convolve() for one of its channels: values [stations of the group], G = 1.
  virtual void values(Channel channel, std::span<double> values) = 0;
};

class LatticePlan {
 public:
  LatticePlan(Lattice lattice, ChannelSet channels);

  const Lattice& lattice() const { return lattice_; }
  ChannelSet channels() const { return channels_; }
  /// Channels computed by FFT; without Γuu if all stations are outside all layers, where it follows from Γee
  /// and Γnn.
  ChannelSet computed() const { return computed_; }
  const Convolution& convolution(std::size_t group) const { return convolutions_[group]; }

  /// A part is one channel at one group of stations, or Γee, Γnn and Γuu if Γuu follows from the others.
  std::size_t parts() const { return parts_.size(); }
  Summation::Part part(std::size_t index) const;

  /// Like Summation::sum, for these densities [prisms] kg/m³. Parts of one group that are requested together
  /// need one call of convolve(). Throws Cancelled.
  void sum(Convolver& convolver, std::span<const double> density, std::size_t first, std::size_t last,
           int threads, const Summation::Take& take, Progress& progress) const;
  /// Throws ShapeError unless there is one density per prism.
  void check(std::span<const double> density) const;

 private:
  struct GroupPart {
    std::size_t group;
    ChannelSet channels;
    bool first;  ///< true: the first part of its group; only this part returns the contacts
  };

  Lattice lattice_;
  ChannelSet channels_, computed_;
  std::vector<GroupPart> parts_;  // parts of all groups, group by group
  std::vector<Convolution> convolutions_;
};

}  // namespace terrane::gravity
