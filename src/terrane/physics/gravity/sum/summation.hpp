// A planned sum over all prisms that can be done part by part: what the direct sum, the tree and the lattice
// are to whoever runs, distributes or resumes them, on whatever device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"

namespace terrane::gravity {

/// Sums for G = 1 of some channels at some stations, and what must be known of those stations inside and on
/// bodies.
struct PartSums {
  std::vector<std::vector<double>> values;  ///< [channels][stations]
  std::vector<Contact> contacts;            ///< station: as the caller numbers them
};

/// left += right, of the same stations and channels.
void join(PartSums& left, const PartSums& right);

class Summation {
 public:
  /// What one part computes.
  struct Part {
    std::span<const std::uint32_t> stations;  ///< as the caller numbers them
    ChannelSet channels;
  };
  using Take = std::function<void(std::size_t part, PartSums&& sums)>;

  virtual ~Summation() = default;
  /// How many parts there are and what each holds depends on the problem alone, never on threads, ranks or
  /// devices: a part has the same bits whoever computes it on one kind of device, alone or with others.
  virtual std::size_t parts() const = 0;
  virtual Part part(std::size_t index) const = 0;
  /// Computes the parts first .. last − 1 and hands each over once, in any order, from one thread at a time.
  /// Throws Cancelled.
  virtual void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) = 0;
  /// The parts of several ranges.
  virtual void sum_ranges(std::span<const Range> ranges, const Take& take, Progress& progress);
};

/// Puts the sums of one part where they belong among the sums of all stations and channels.
void scatter(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all);
/// Without the contacts: for several parts at a time, which have no value in common.
void scatter_values(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all);
/// values [channels of the part][its stations]
void scatter_values(const Summation::Part& part, std::span<const std::span<const double>> values,
                    ChannelSet channels, PartSums& all);

/// Puts contacts in the order of their stations, however the parts came.
void sort_contacts(std::vector<Contact>& contacts);

/// All parts: values [channels][stations], contacts ordered by station. Throws Cancelled.
PartSums sum_all(Summation& summation, ChannelSet channels, std::size_t stations, Progress& progress);

}  // namespace terrane::gravity
