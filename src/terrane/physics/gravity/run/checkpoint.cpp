#include "terrane/physics/gravity/run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"

namespace terrane::gravity {

namespace {

constexpr std::string_view prefix = "run_", parts_name = "parts_done";

/// 64 bits of the values' bits: FNV-1a by words, each mixed.
std::string hash(std::initializer_list<std::span<const double>> columns) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const auto& column : columns) {
    h = (h ^ column.size()) * 0x100000001b3U;
    for (const double value : column) {
      h = (h ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3U;
      h ^= h >> 29;
    }
  }
  return fmt::format("{:016x}", h);
}

std::string different(const std::string& file, std::string_view what, const std::string& theirs,
                      const std::string& ours) {
  if (what == "prisms" || what == "densities" || what == "stations")
    return fmt::format("{} was made for other {}", file, what);
  return fmt::format("{} was made with {} {}; this run has {}", file, what, theirs, ours);
}

constexpr std::string_view in_single = " in single precision";

std::string partition_name(Partition partition) {
  return partition == Partition::prisms ? "prisms" : "stations";
}

}  // namespace

Parameters as_in_checkpoint(const std::filesystem::path& file, const Stations& stations,
                            Parameters parameters) {
  const bool open = parameters.device.kind == Device::Kind::automatic ||
                    parameters.method == Method::automatic || parameters.partition == Partition::automatic;
  if (!open || !std::filesystem::exists(file)) return parameters;
  const auto notes = io::read_hdf5_arrays(file.string()).attributes;
  const auto told = [&](const std::string& what) {
    const auto found = notes.find(std::string(prefix) + what);
    return found == notes.end() ? std::string() : found->second;
  };
  for (const auto& [what, value] : fingerprint({}, stations, parameters, parameters.method,
                                               {Device::Kind::cpu, -1}, parameters.partition))
    if ((what == "version" || what == "channels" || what == "accuracy" || what == "stations") &&
        told(what) != value)
      return parameters;

  if (parameters.method == Method::automatic)
    for (const auto method : {Method::direct, Method::lattice, Method::tree})
      if (told("method") == name(method)) parameters.method = method;
  if (parameters.partition == Partition::automatic && told("method") == name(parameters.method))
    for (const auto partition : {Partition::stations, Partition::prisms})
      if (told("partition") == partition_name(partition)) parameters.partition = partition;
  if (parameters.device.kind == Device::Kind::automatic) {
    auto device = told("device");
    if (device.ends_with(in_single)) device.resize(device.size() - in_single.size());
    if (device.starts_with("cpu")) parameters.device = {Device::Kind::cpu, -1};
    else if (device == "debug") parameters.device = {Device::Kind::debug, -1};
    else if (gpu_count() > 0) parameters.device = {Device::Kind::cuda, -1};
    else
      throw InputError(
          "--resume",
          fmt::format("{} was made with device {}, and here {}", file.string(), device, why_no_gpu()),
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
  std::string channels;
  for (const auto channel : parameters.channels.list())
    channels += fmt::format("{}{}", channels.empty() ? "" : " ", name(channel));
  return {{"version", fmt::format("{} ({})", version(), commit())},
          {"channels", channels},
          {"accuracy", fmt::format("{}", parameters.accuracy)},
          {"method", std::string(name(method))},
          {"partition", partition_name(partition)},
          {"device", single ? kind + std::string(in_single) : kind},
          {"stations", hash({s.easting, s.northing, s.up})},
          {"prisms", hash({p.west, p.east, p.south, p.north, p.bottom, p.top})},
          {"densities", hash({p.density})}};
}

void write_checkpoint(const std::filesystem::path& file, const Fingerprint& of, ChannelSet channels,
                      const Checkpoint& checkpoint) {
  io::Arrays arrays;
  arrays.attributes["program"] = "terrane";
  for (const auto& [what, value] : of) arrays.attributes[std::string(prefix) + what] = value;
  arrays.attributes[std::string(parts_name)] = fmt::format("{}", checkpoint.parts);
  std::size_t c = 0;
  for (const auto channel : channels.list())
    arrays.columns.push_back(
        {std::string(name(channel)), "", "sum for G = 1 of the parts done", checkpoint.sums.values[c++]});
  std::vector<double> station, density, octants;
  for (const auto& contact : checkpoint.sums.contacts) {
    station.push_back(static_cast<double>(contact.station));
    density.push_back(contact.density);
    octants.push_back(contact.octants);
  }
  arrays.columns.push_back({"contact_station", "", "stations inside and on prisms", std::move(station)});
  arrays.columns.push_back({"contact_density", "kg/m3", "density of the prism", std::move(density)});
  arrays.columns.push_back({"contact_octants", "", "octants that the prism fills", std::move(octants)});
  io::write_hdf5_arrays(file.string(), arrays);
}

std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& file, const Fingerprint& of,
                                          ChannelSet channels, std::size_t stations) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const auto arrays = io::read_hdf5_arrays(file.string());
  const auto& notes = arrays.attributes;
  const auto damaged = [&](const std::string& how) {
    return FileError(file.string(), how, "Remove it, and run without --resume.");
  };
  for (const auto& [what, value] : of) {
    const auto found = notes.find(std::string(prefix) + what);
    if (found == notes.end()) throw damaged(fmt::format("is no checkpoint: it does not tell the {}", what));
    if (found->second != value)
      throw InputError("--resume", different(file.string(), what, found->second, value),
                       "Run the job it was made for, or run without --resume to start afresh.");
  }
  const auto column = [&](std::string_view wanted) -> const std::vector<double>& {
    for (const auto& c : arrays.columns)
      if (c.name == wanted) return c.values;
    throw damaged(fmt::format("holds no \"{}\"", wanted));
  };
  Checkpoint checkpoint;
  const auto parts = notes.find(std::string(parts_name));
  if (parts == notes.end()) throw damaged("does not tell how many parts are done");
  const std::string& text = parts->second;
  if (std::from_chars(text.data(), text.data() + text.size(), checkpoint.parts).ec != std::errc{})
    throw damaged(fmt::format("tells of \"{}\" parts done", text));
  for (const auto channel : channels.list()) {
    checkpoint.sums.values.push_back(column(name(channel)));
    if (checkpoint.sums.values.back().size() != stations)
      throw damaged(fmt::format("\"{}\" has {} values for {} stations", name(channel),
                                checkpoint.sums.values.back().size(), stations));
  }
  const auto &station = column("contact_station"), &density = column("contact_density"),
             &octants = column("contact_octants");
  if (density.size() != station.size() || octants.size() != station.size())
    throw damaged("has contacts of different lengths");
  for (std::size_t i = 0; i < station.size(); ++i) {
    if (!(station[i] >= 0 && station[i] < static_cast<double>(stations)))
      throw damaged(fmt::format("tells of station {}", station[i]));
    checkpoint.sums.contacts.push_back(
        {static_cast<std::size_t>(station[i]), density[i], static_cast<std::uint8_t>(octants[i])});
  }
  return checkpoint;
}

}  // namespace terrane::gravity
