// Whether messages between GPUs (peer_halo.hpp) did not come, and the memory that they go through.
#pragma once

#include <memory>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// After work of a device was waited for: throws Error where a rank did not answer any of the halos of the
/// Comm for a minute. From then on none of them waits, and what they bring is worth nothing.
void check_peers(const Comm& comm, Device device);
/// In place of a minute, for tests: of what is begun after it, not of a Graph.
void set_patience_with_peers(double seconds);
/// For tests of more ranks than there are GPUs; false at first, and the same on all ranks: those of one GPU
/// bring each other messages as if each had its own. Processes then take turns on it, and each turn of one
/// that waits is lost: milliseconds.
void let_peers_share_gpus(bool share);

/// The memory of halos between the GPUs of a Comm, which takes tens of milliseconds to open, stays as long as
/// any of them or this is there. Whoever makes several in turn keeps it meanwhile. Letting it go is
/// collective, unless an exception does it. Null where there is none.
std::shared_ptr<const void> keep_peer_memory(Stream& stream, Comm& comm);

}  // namespace terrane
