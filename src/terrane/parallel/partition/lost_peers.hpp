// Whether messages between GPUs (peer_halo.hpp) did not come.
#pragma once

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane {

/// After work of a device was waited for: throws Error where a rank did not answer any of the halos of the
/// Comm for a minute. From then on none of them waits, and what they bring is worth nothing.
void check_peers(const Comm& comm, Device device);
/// In place of a minute, for tests: of what is begun after it, not of a Graph.
void set_patience_with_peers(double seconds);

}  // namespace terrane
