#include "terrane/physics/gravity/inverse/operators.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/inverse/stored.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/sensitivity/fmm_operator.hpp"
#include "terrane/physics/gravity/sensitivity/lattice_operator.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::gravity::inverse {

std::optional<Lattice> lattice_of(const SensitivityColumns& source, int threads, std::string& reason) {
  const auto& p = source.cells();
  const std::vector<double> ones(p.size(), 1.0);
  return recognise_lattice({p.west, p.east, p.south, p.north, p.bottom, p.top, ones},
                           source.stations().view(), reason, threads);
}

namespace {

std::vector<double> weights_of(const std::vector<Observable>& observables) {
  std::vector<double> weights;
  for (const auto& o : observables) weights.insert(weights.end(), o.weight.begin(), o.weight.end());
  return weights;
}

}  // namespace

bool runs_on_devices(Storage storage) {
  return storage != Storage::disk && storage != Storage::fmm && storage != Storage::automatic;
}

Fingerprint fingerprint(const SensitivityColumns& source, double accuracy) {
  const auto& c = source.cells();
  const auto& s = source.stations();
  return {{"mesh", hash({c.west, c.east, c.south, c.north, c.bottom, c.top}), true},
          {"survey", hash({s.easting, s.northing, s.up}), true},
          {"set of channels, units or constants", hash({weights_of(source.observables())}), true},
          {"accuracy", fmt::format("{}", accuracy), false}};
}

namespace {

/// device: must be resolved (not automatic) and have memory of its own.
std::shared_ptr<const solve::PartedOperator> make_share_on_device(
    Device device, const std::shared_ptr<const SensitivityColumns>& source, const StorageSettings& settings,
    int threads, Progress* progress, const solve::ShareOfParts& share) {
  const auto storage = settings.storage;
  if (storage == Storage::tree)
    return tree_sensitivity_on_device(device, *source, settings.tree_accuracy, threads, progress, share);
  if (storage == Storage::lattice) {
    std::string reason;
    return lattice_sensitivity_on_device(device, *lattice_of(*source, threads, reason),
                                         source->stations().size(), source->observables(), threads, progress,
                                         share);
  }
  const auto kept = storage == Storage::none    ? KeptEntries::none
                    : storage == Storage::dense ? KeptEntries::double_precision
                                                : KeptEntries::single_precision;
  return sensitivity_on_device(device, source, kept, threads, progress, share);
}

std::shared_ptr<const solve::PartedOperator> make_share(
    const std::shared_ptr<const SensitivityColumns>& source, const StorageSettings& settings, Comm* comm,
    int threads, Progress* progress, const solve::ShareOfParts& share, std::vector<std::string>& notes) {
  if (settings.device.has_own_memory() && runs_on_devices(settings.storage)) {
    const auto device = comm ? device_of_rank(settings.device, *comm) : resolve(settings.device);
    return make_share_on_device(device, source, settings, threads, progress, share);
  }
  const BareColumns bare(source);
  switch (settings.storage) {
    case Storage::lattice: {
      std::string reason;
      auto lattice = lattice_of(*source, threads, reason);
      return std::make_shared<LatticeSensitivity>(std::move(*lattice), source->stations().size(),
                                                  source->observables(), threads, progress, share);
    }
    case Storage::dense:
      return std::make_shared<solve::DenseOperator<double>>(bare, threads, progress, share);
    case Storage::disk: {
      auto stored = std::make_shared<StoredOperator>(
          bare, settings.file, fingerprint(*source, settings.accuracy), threads, progress, share);
      notes.push_back(fmt::format("sensitivities {} {}", stored->reused() ? "read from" : "kept in",
                                  settings.file.string()));
      return stored;
    }
    case Storage::none:
      return std::make_shared<solve::OnTheFlyOperator>(std::make_shared<BareColumns>(source), threads, share);
    case Storage::tree:
      return std::make_shared<TreeSensitivity>(*source, settings.tree_accuracy, threads, progress, share);
    case Storage::fmm:
      return std::make_shared<FmmSensitivity>(*source, settings.tree_accuracy, threads, progress, share);
    default:
      return std::make_shared<solve::DenseOperator<float>>(bare, threads, progress, share);
  }
}

constexpr const char* service_of_products = "gravity: shares of products";

/// Packs the source and the settings, which rank 0 sends to all ranks.
Packet packed(const SensitivityColumns& source, const StorageSettings& settings, int threads) {
  Packet packet;
  packet.put(std::string(service_of_products));
  const auto& c = source.cells();
  for (const auto* face : {&c.west, &c.east, &c.south, &c.north, &c.bottom, &c.top}) packet.put(*face);
  const auto& s = source.stations();
  for (const auto* axis : {&s.easting, &s.northing, &s.up}) packet.put(*axis);
  packet.put(weights_of(source.observables()));
  packet.put(settings.accuracy);
  packet.put(settings.tree_accuracy);
  packet.put(settings.storage);
  packet.put(settings.device);
  packet.put(settings.file.string());
  packet.put(threads);
  return packet;
}

struct Asked {
  std::shared_ptr<const SensitivityColumns> source;
  StorageSettings settings;
  int threads = 0;
};

Asked unpacked(Packet& packet) {
  Asked asked;
  PrismSet c;
  for (auto* face : {&c.west, &c.east, &c.south, &c.north, &c.bottom, &c.top})
    *face = packet.get_vector<double>();
  KeptStations s;
  for (auto* axis : {&s.easting, &s.northing, &s.up}) *axis = packet.get_vector<double>();
  const auto weights = packet.get_vector<double>();
  std::vector<Observable> observables(weights.size() / channel_count);
  for (std::size_t o = 0; o < observables.size(); ++o)
    std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(o * channel_count), channel_count,
                observables[o].weight.begin());
  asked.settings.accuracy = packet.get<double>();
  asked.settings.tree_accuracy = packet.get<double>();
  asked.settings.storage = packet.get<Storage>();
  asked.settings.device = packet.get<Device>();
  asked.settings.file = packet.get<std::string>();
  asked.threads = packet.get<int>();
  asked.source = std::make_shared<SensitivityColumns>(std::move(c), std::move(s), std::move(observables),
                                                      asked.settings.accuracy);
  return asked;
}

/// Corrects products at stations inside and on the surface of cells.
std::shared_ptr<const solve::LinearOperator> settled(std::shared_ptr<const solve::LinearOperator> bare,
                                                     const SensitivityColumns& source) {
  if (source.contacts().empty()) return bare;
  return std::make_shared<SettledOperator>(std::move(bare), source.contacts(), source.cells(),
                                           source.stations(), source.accuracy());
}

}  // namespace

std::shared_ptr<const solve::LinearOperator> make_operator(
    const std::shared_ptr<const SensitivityColumns>& source, const StorageSettings& settings,
    const Runtime& runtime, std::vector<std::string>& notes, std::shared_ptr<solve::Workers> workers) {
  std::shared_ptr<const solve::PartedOperator> own;
  const bool shared = runtime.comm != nullptr && runtime.comm->size() > 1;
  const solve::ShareOfParts share{0, shared ? static_cast<std::size_t>(runtime.comm->size()) : 1};
  const auto make = [&] {
    own = make_share(source, settings, runtime.comm, runtime.threads, runtime.progress, share, notes);
  };
  if (!shared) {
    make();
    return settled(own, *source);
  }
  if (settings.storage == Storage::disk) make();  // rank 0 makes the file first; the other ranks find it
  auto& comm = *runtime.comm;
  inversion::call_for_shares(comm, workers, packed(*source, settings, runtime.threads));
  together(comm, [&] {
    if (!own) make();
  });
  return settled(std::make_shared<solve::SharedOperator>(std::move(workers), own), *source);
}

namespace {

/// Makes this rank's share of the operator that rank 0 requests; null if any rank fails; rank 0 then throws
/// the error of that rank.
std::shared_ptr<const solve::PartedOperator> share_as_asked(Packet packet, Comm& comm) {
  std::shared_ptr<const solve::PartedOperator> own;
  const bool made = serve_in_step(comm, [&] {
    together(comm, [&] {
      const auto asked = unpacked(packet);
      packet = {};
      std::vector<std::string> notes;
      own = make_share(asked.source, asked.settings, &comm, asked.threads, nullptr,
                       {static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size())}, notes);
    });
  });
  return made ? own : nullptr;
}

}  // namespace

inversion::Service shares_of_products() { return {service_of_products, share_as_asked}; }

}  // namespace terrane::gravity::inverse
