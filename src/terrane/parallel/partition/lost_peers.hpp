// Checks that messages between GPUs (peer_halo.hpp) arrived, and holds the memory that they use.
#pragma once

#include <memory>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// To be called after a device's work was waited for: throws Error where a rank did not answer any of the
/// halos of the Comm for a minute. From then on no halo waits, and the values that they bring are not valid.
void check_peers(const Comm& comm, Device device);
/// Replaces the minute, for tests: for work begun after this call, but not for a recorded Graph.
void set_patience_with_peers(double seconds);
/// For tests with more ranks than GPUs; false at first, and the same on all ranks: ranks of one GPU send each
/// other messages as if each had its own. Their processes then take turns on it, and a rank that waits wastes
/// its turn: milliseconds.
void let_peers_share_gpus(bool share);

/// The memory of halos between the GPUs of a Comm, which takes tens of milliseconds to open, is kept as long
/// as any halo or this pointer exists. Hold it where several halos are made in turn. Releasing it is
/// collective, unless an exception does it. Null where there is none.
std::shared_ptr<const void> keep_peer_memory(Stream& stream, Comm& comm);

}  // namespace terrane
