// A planned sum over all prisms that can be computed part by part, on any device: the common interface of all
// methods for the code that runs, distributes or resumes them.
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

/// Sums for G = 1 of some channels at some stations, and the contacts of those stations that lie inside or on
/// prisms.
struct PartSums {
  std::vector<std::vector<double>> values;  ///< [channels][stations]
  std::vector<Contact> contacts;            ///< contacts, in which `station` is the caller's number
};

/// left += right; both have the same stations and channels.
void join(PartSums& left, const PartSums& right);

class Summation {
 public:
  /// One part of the sum: a group of stations, and the channels computed there.
  struct Part {
    std::span<const std::uint32_t> stations;  ///< the caller's numbers of the stations
    ChannelSet channels;
  };
  using Take = std::function<void(std::size_t part, PartSums&& sums)>;

  virtual ~Summation() = default;
  /// The number of parts, and the stations and channels of each, depend on the problem alone, never on
  /// threads, ranks or devices. On one kind of device the sums of a part are bitwise the same whichever rank
  /// computes them, alone or together with other parts.
  virtual std::size_t parts() const = 0;
  virtual Part part(std::size_t index) const = 0;
  /// Computes the parts first .. last − 1 and calls `take` once for each, in any order, from one thread at a
  /// time. Throws Cancelled.
  virtual void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) = 0;
  /// Like sum(), for the parts of several ranges.
  virtual void sum_ranges(std::span<const Range> ranges, const Take& take, Progress& progress);
};

/// Copies the sums of one part to their stations and channels in `all`, the sums of all stations and
/// channels.
void scatter(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all);
/// Like scatter(), without the contacts. May run for several parts at the same time, because each value of
/// `all` belongs to one part.
void scatter_values(const Summation::Part& part, const PartSums& sums, ChannelSet channels, PartSums& all);
/// Like scatter_values(), from values [channels of the part][its stations].
void scatter_values(const Summation::Part& part, std::span<const std::span<const double>> values,
                    ChannelSet channels, PartSums& all);

/// Sorts contacts by station; the order in which parts were added does not matter.
void sort_contacts(std::vector<Contact>& contacts);

/// All parts: values [channels][stations], contacts ordered by station. Throws Cancelled.
PartSums sum_all(Summation& summation, ChannelSet channels, std::size_t stations, Progress& progress);

}  // namespace terrane::gravity
