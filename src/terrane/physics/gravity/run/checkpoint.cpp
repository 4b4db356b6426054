#include "terrane/physics/gravity/run/checkpoint.hpp"

#include <fmt/format.h>

#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/simulation/field_facts.hpp"

namespace terrane::gravity {

namespace {

constexpr std::string_view in_single = " in single precision", contact_station = "stations on prisms",
                           contact_density = "their densities", contact_octants = "their octants";

}  // namespace

Parameters as_in_checkpoint(const std::filesystem::path& file, const Stations& stations,
                            Parameters parameters) {
  const bool open = parameters.device.kind == Device::Kind::automatic ||
                    parameters.method == Method::automatic || parameters.partition == Partition::automatic;
  if (!open || !std::filesystem::exists(file)) return parameters;
  const auto kept = CheckpointReader::open(file);
  const auto told = [&](const char* what) { return kept->told(what); };
  for (const auto& [what, value, is_hash] : fingerprint({}, stations, parameters, parameters.method,
                                                        {Device::Kind::cpu, -1}, parameters.partition))
    if ((what == "version" || what == "channels" || what == "accuracy" || what == "stations") &&
        kept->told(what) != value)
      return parameters;

  if (parameters.method == Method::automatic)
    for (const auto method : {Method::direct, Method::lattice, Method::tree, Method::fmm})
      if (told("method") == name(method)) parameters.method = method;
  if (parameters.partition == Partition::automatic && told("method") == name(parameters.method))
    for (const auto partition : {Partition::stations, Partition::prisms})
      if (told("partition") == partition_names[static_cast<std::size_t>(partition)])
        parameters.partition = partition;
  if (parameters.device.kind == Device::Kind::automatic) {
    auto device = told("device");
    if (device.ends_with(in_single)) device.remove_suffix(in_single.size());
    if (device.starts_with("cpu")) parameters.device = {Device::Kind::cpu, -1};
    else if (device == "debug") parameters.device = {Device::Kind::debug, -1};
    else if (gpu_count() > 0) parameters.device = {Device::Kind::cuda, -1};
    else
      throw InputError("--resume",
                       fmt::format("{} was made with device {}, and here {}", file.string(),
                                   io::shown(device), why_no_gpu()),
                       "Go on where there is such a GPU, or run without --resume to start afresh.");
  }
  return parameters;
}

Fingerprint fingerprint(const Prisms& p, const Stations& s, const Parameters& parameters, Method method,
                        Device device, Partition partition) {
  const bool single = device.has_own_memory() && parameters.precision == Precision::single_precision;
  const auto kind = device.kind == Device::Kind::cuda    ? device_name(device)
                    : device.kind == Device::Kind::debug ? "debug"
                                                         : fmt::format("cpu {}", kernel_target().name);
  auto chosen = parameters;
  chosen.method = method, chosen.partition = partition;
  auto all = fingerprint_of(chosen);
  std::string channels;
  for (const auto channel : parameters.channels.list())
    channels += fmt::format("{}{}", channels.empty() ? "" : " ", name(channel));
  for (auto& [what, value, is_hash] : all)
    if (what == "channels") value = channels, is_hash = false;  // the names of channels instead of their bits
  all.push_back({"device", single ? kind + std::string(in_single) : kind});
  all.push_back({"stations", hash({s.easting, s.northing, s.up}), true});
  all.push_back({"prisms", hash({p.west, p.east, p.south, p.north, p.bottom, p.top}), true});
  all.push_back({"densities", hash({p.density}), true});
  return all;
}

void write_checkpoint(const std::filesystem::path& file, const Fingerprint& of, ChannelSet channels,
                      const Checkpoint& checkpoint) {
  CheckpointWriter out(file, of, checkpoint.parts);
  std::size_t c = 0;
  for (const auto channel : channels.list()) out.list<double>(name(channel), checkpoint.sums.values[c++]);
  std::vector<std::int64_t> station;
  std::vector<double> density;
  std::vector<unsigned char> octants;
  for (const auto& contact : checkpoint.sums.contacts) {
    station.push_back(static_cast<std::int64_t>(contact.station));
    density.push_back(contact.density);
    octants.push_back(contact.octants);
  }
  out.list<std::int64_t>(contact_station, station);
  out.list<double>(contact_density, density);
  out.list<unsigned char>(contact_octants, octants);
  out.finish();
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, const Fingerprint& of,
                                          ChannelSet channels, std::size_t stations) {
  auto in = CheckpointReader::open(file);
  if (!in) return std::nullopt;
  in->expect(of);
  Checkpoint checkpoint;
  checkpoint.parts = in->parts();
  for (const auto channel : channels.list())
    checkpoint.sums.values.push_back(in->array<double>(name(channel), {stations}));
  const std::size_t contacts = in->size(contact_station);
  const auto station = in->array<std::int64_t>(contact_station, {contacts});
  const auto density = in->array<double>(contact_density, {contacts});
  const auto octants = in->array<unsigned char>(contact_octants, {contacts});
  for (std::size_t i = 0; i < contacts; ++i) {
    if (station[i] < 0 || static_cast<std::size_t>(station[i]) >= stations)
      throw in->damaged(fmt::format("it tells of station {} of {}", station[i], stations));
    if (!std::isfinite(density[i])) throw in->damaged(fmt::format("it tells of a density of {}", density[i]));
    checkpoint.sums.contacts.push_back({static_cast<std::size_t>(station[i]), density[i], octants[i]});
  }
  return checkpoint;
}

}  // namespace terrane::gravity
