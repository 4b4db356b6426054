// Checks that messages between GPUs (peer_halo.hpp) have arrived, and keeps the memory that they use.
#pragma once

#include <memory>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// To be called after waiting for a device's work: throws an Error if, for a minute, a rank did not answer in
/// some halo of the Comm. From then on no halo waits, and the values that halos receive are invalid.
void check_peers(const Comm& comm, Device device);
/// For tests: replaces the minute of check_peers() for work begun after this call, except in Graphs already
/// recorded.
void set_patience_with_peers(double seconds);
/// For tests with more ranks than GPUs: if true, ranks that share a GPU exchange messages as if each had its
/// own. The default is false; all ranks must pass the same value. Their processes run on the GPU alternately,
/// so a rank that waits wastes milliseconds.
void let_peers_share_gpus(bool share);

/// The memory of halos between the GPUs of a Comm, which takes tens of milliseconds to open, is kept as long
/// as any halo or this pointer exists. Keep the pointer where several halos are made one after the other. Its
/// release is collective, except during stack unwinding. Null if no such memory can be used.
std::shared_ptr<const void> keep_peer_memory(Stream& stream, Comm& comm);

}  // namespace terrane
