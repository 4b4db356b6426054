#include "terrane/physics/acoustic/settings.hpp"

namespace terrane::acoustic {

void Settings::put_into(Packet& packet) const {
  packet.put(task);
  packet.put(twofold);
  packet.put(keeping);
  packet.put(kept_in);
  packet.put(scratch);
  packet.put(lags);
  packet.put(snapshots);
  packet.put(change);
  packet.put(data.size());
  for (const auto& gather : data) packet.put(gather);
}

Settings Settings::from(Packet& packet) {
  Settings s;
  s.task = packet.get<Task>();
  s.twofold = packet.get<bool>();
  s.keeping = packet.get<Keeping>();
  s.kept_in = packet.get<KeptIn>();
  s.scratch = packet.get<std::string>();
  s.lags = packet.get<Index>();
  s.snapshots = packet.get<Snapshots>();
  s.change = packet.get_vector<double>();
  s.data.resize(packet.get<std::size_t>());
  for (auto& gather : s.data) gather = packet.get_vector<double>();
  return s;
}

}  // namespace terrane::acoustic
