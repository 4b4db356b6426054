#include "terrane/parallel/comm/comm_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace terrane {

namespace {

/// NCCL takes 0.5 s to start on two H200 of a machine and 1.5 s on four. MPI broadcasts 8 GB/s through host
/// memory, NCCL 18 to 25 GB/s through the GPUs (measured): NCCL's start pays off from 6 to 20 GB on.
constexpr std::size_t worth_it = 10'000'000'000;
/// Bytes; below this a broadcast by MPI takes less time than one through the slots of a link.
constexpr std::size_t least_message = 1'000'000;

}  // namespace

GpuLinkUse gpu_link_use_from_text(const char* text, const std::string& where) {
  const std::string_view value = text ? text : "";
  if (value.empty()) return GpuLinkUse::when_worth_it;
  if (value == "0") return GpuLinkUse::never;
  if (value == "1") return GpuLinkUse::always;
  throw InputError(where, fmt::format("\"{}\" is not possible", value),
                   "Allowed: 0 (never), 1 (for every large array), or nothing (when it saves time).");
}

std::string GpuComm::prepare(Device device, std::size_t bytes, int threads) {
  release();
  if (size() == 1 || !make_ || !device.has_own_memory()) return {};
  const auto use = agreed_use();
  if (use == GpuLinkUse::never || bytes < (use == GpuLinkUse::always ? least_message : worth_it)) return {};
  const auto begin = std::chrono::steady_clock::now();
  if (failure_.empty()) link_ = start<GpuLink>([&] { return make_(device, threads); }, failure_);
  if (!failure_.empty()) return fmt::format("stations and prisms did not go through the GPUs: {}", failure_);
  return fmt::format("stations and prisms went through the GPUs by {}, which was ready in {:.2g} s",
                     link_->name(),
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

GpuLinkUse GpuComm::agreed_use() {
  auto use = use_;
  below_.broadcast(std::as_writable_bytes(std::span(&use, 1)), 0);
  return use;
}

/// Collective: makes each rank's end of a link and joins these; if any rank fails, null on all ranks, and
/// `failure` gets the reason.
template <class Link, class Make>
std::unique_ptr<Link> GpuComm::start(const Make& make, std::string& failure) {
  std::unique_ptr<Link> link;
  try {
    std::vector<GpuGroup::GpuId> gpus(static_cast<std::size_t>(size()));
    together(below_, [&] {
      link = make();
      gpus[static_cast<std::size_t>(rank())] = link->gpu();
    });
    for (int r = 0; r < size(); ++r)
      below_.broadcast(std::as_writable_bytes(std::span(&gpus[static_cast<std::size_t>(r)], 1)), r);
    std::sort(gpus.begin(), gpus.end());
    if (std::adjacent_find(gpus.begin(), gpus.end()) != gpus.end())
      throw UnsupportedError("ranks", "some share a GPU", "Start one for each.");
    GpuGroup::GroupId group{};
    together(below_, [&] {
      if (rank() == 0) group = link->make_group();
    });
    below_.broadcast(group, 0);
    together(below_, [&] { link->join(group, rank(), size()); });
  } catch (const Error& error) {  // an error that is thrown on all ranks
    failure = fmt::format("{}: {}", error.where(), error.problem());
    return nullptr;
  } catch (const std::exception& error) {
    failure = error.what();
    return nullptr;
  }
  return link;
}

Comm::Direct GpuComm::direct(Device device) {
  if (size() == 1 || !device.has_own_memory()) return {};
  if (below_.lowest(direct_device_ == device ? 1 : 0) == 1) return direct_;
  direct_ = {};
  direct_device_ = device;
  const bool debug = device.kind == Device::Kind::debug;
  if (agreed_use() == GpuLinkUse::never) direct_.why_not = "TERRANE_NCCL is 0";
  else if (!debug && !make_direct_) direct_.why_not = "this build has no NCCL";
  else if (debug) direct_.link = std::make_shared<DebugLink>(below_.split(0, rank()));
  else direct_.link = start<DirectLink>([&] { return make_direct_(device); }, direct_.why_not);
  return direct_;
}

void GpuComm::broadcast(std::span<std::byte> bytes, int root) {
  if (!link_ || bytes.size() < least_message) return below_.broadcast(bytes, root);
  const std::size_t pieces = (bytes.size() + link_->piece() - 1) / link_->piece();
  const auto piece = [&](std::size_t p) {
    const std::size_t first = p * link_->piece();
    return bytes.subspan(first, std::min(link_->piece(), bytes.size() - first));
  };
  const auto slot = [](std::size_t p) { return static_cast<int>(p % GpuLink::slots); };
  for (std::size_t p = 0; p < pieces + GpuLink::slots; ++p) {
    if (p >= GpuLink::slots && p - GpuLink::slots < pieces)
      link_->finish(slot(p), piece(p - GpuLink::slots), root);
    if (p < pieces) link_->begin(slot(p), piece(p), root);
  }
}

}  // namespace terrane
