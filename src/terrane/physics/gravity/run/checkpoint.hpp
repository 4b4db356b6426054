// What a long gravity run keeps in its checkpoint (simulation/checkpoint.hpp): sums for G = 1 of the parts
// that are done.
#pragma once

#include <filesystem>
#include <optional>

#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::gravity {

/// Everything that determines the bits of the sums. What follows from them (G, units, the singular policy) is
/// not part of it.  prisms: those that are summed, so bars after merging.  partition: stations or prisms
Fingerprint fingerprint(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                        Method method, Device device, Partition partition);

/// The parameters of a run that is to go on from the file: device, method and partition that are automatic
/// are those of the run that wrote it, for bits depend on them. Unchanged when there is no such file, or when
/// it is of other stations, channels, accuracy or version, which read_checkpoint() refuses. Throws FileError
/// (damaged), InputError: it needs a GPU and there is none.
Parameters as_in_checkpoint(const std::filesystem::path& file, const Stations& stations,
                            Parameters parameters);

struct Checkpoint {
  std::size_t parts = 0;  ///< the parts 0 .. parts − 1 are done
  PartSums sums;          ///< values [channels][stations], those of other parts 0
};

/// Replaces the file whole or not at all. Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Fingerprint& of, ChannelSet channels,
                      const Checkpoint& checkpoint);

/// Nothing when there is no such file. Throws FileError (damaged), InputError: it was made for another
/// problem; the message says what differs.
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, const Fingerprint& of,
                                          ChannelSet channels, std::size_t stations);

}  // namespace terrane::gravity
