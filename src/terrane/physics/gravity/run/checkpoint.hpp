// What a long gravity run saves in its checkpoint (simulation/checkpoint.hpp): the sums for G = 1 of the
// parts that are done.
#pragma once

#include <filesystem>
#include <optional>

#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::gravity {

/// Everything that determines the bits of the sums. Settings used only afterwards (G, units, the singular
/// policy) are not part of it.  prisms: those that are summed, so bars after merging.  partition: stations or
/// prisms
Fingerprint fingerprint(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                        Method method, Device device, Partition partition);

/// The parameters of a run that resumes from the file: device, method and partition, if automatic, become
/// those of the run that wrote the file, because the bits of the sums depend on them. Unchanged if there is
/// no such file, or if its stations, channels, accuracy or version differ, which read_checkpoint() refuses.
/// Throws FileError (damaged), InputError: the file needs a GPU and there is none.
Parameters as_in_checkpoint(const std::filesystem::path& file, const Stations& stations,
                            Parameters parameters);

struct Checkpoint {
  std::size_t parts = 0;  ///< number of parts that are done, which are the first ones
  PartSums sums;          ///< values [channels][stations]; 0 at stations of other parts
};

/// Replaces the file completely or not at all. Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Fingerprint& of, ChannelSet channels,
                      const Checkpoint& checkpoint);

/// Reads the checkpoint; nothing if there is no such file. Throws FileError (damaged), InputError: it was
/// made for another problem; the message says what differs.
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, const Fingerprint& of,
                                          ChannelSet channels, std::size_t stations);

}  // namespace terrane::gravity
