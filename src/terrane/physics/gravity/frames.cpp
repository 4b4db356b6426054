#include "terrane/physics/gravity/frames.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/physics/gravity/elsewhere.hpp"

namespace terrane::gravity {

namespace {

/// A component in a frame: its name and its sign there.
struct Entry {
  std::string_view name;
  int sign;
};
using Table = std::array<Entry, channel_count>;

// In the order of Channel: potential, g_e, g_n, g_u, g_ee, g_nn, g_uu, g_en, g_eu, g_nu.
// One table per frame.
// clang-format off
constexpr std::array<Table, 5> names_and_signs{{
    {{{"potential", 1}, {"g_e", 1}, {"g_n", 1}, {"g_u", 1},
      {"g_ee", 1}, {"g_nn", 1}, {"g_uu", 1}, {"g_en", 1}, {"g_eu", 1}, {"g_nu", 1}}},
    {{{"potential", 1}, {"g_e", 1}, {"g_n", 1}, {"g_z", -1},
      {"g_ee", 1}, {"g_nn", 1}, {"g_zz", 1}, {"g_en", 1}, {"g_ez", -1}, {"g_nz", -1}}},
    {{{"potential", 1}, {"gx", 1}, {"gy", 1}, {"gz", 1},
      {"gxx", 1}, {"gyy", 1}, {"gzz", 1}, {"gxy", 1}, {"gxz", 1}, {"gyz", 1}}},
    {{{"potential", 1}, {"gy", 1}, {"gx", 1}, {"gz", -1},
      {"yy", 1}, {"xx", 1}, {"zz", 1}, {"xy", 1}, {"yz", -1}, {"xz", -1}}},
    {{{"potential", 1}, {"gx", 1}, {"gy", 1}, {"gz", -1},
      {"gxx", 1}, {"gyy", 1}, {"gzz", 1}, {"gxy", 1}, {"gxz", -1}, {"gyz", -1}}},
}};
// clang-format on

std::string_view geo_unit(Channel channel) {
  switch (quantity(channel)) {
    case Quantity::gravity_potential:
      return "J/kg";
    case Quantity::acceleration:
      return "mGal";
    default:
      return "E";
  }
}

std::string description_of(Channel channel, Frame frame) {
  const bool up = frame == Frame::enu || frame == Frame::simpeg;
  const std::string vertical = up ? "upward" : "downward";
  switch (channel) {
    case Channel::potential:
      return "gravity potential";
    case Channel::g_e:
      return "gravity, eastward component";
    case Channel::g_n:
      return "gravity, northward component";
    case Channel::g_u:
      return "gravity, " + vertical + " component";
    case Channel::g_ee:
      return "gravity gradient, east-east component";
    case Channel::g_nn:
      return "gravity gradient, north-north component";
    case Channel::g_uu:
      return "gravity gradient, vertical-vertical component";
    case Channel::g_en:
      return "gravity gradient, east-north component";
    case Channel::g_eu:
      return "gravity gradient, east-" + vertical + " component";
    case Channel::g_nu:
      return "gravity gradient, north-" + vertical + " component";
  }
  return {};
}

Conventions all_conventions() {
  Conventions made;
  for (std::size_t f = 0; f < frame_names.size(); ++f) {
    const auto frame = static_cast<Frame>(f);
    Convention one{frame_names[f], {}, usual_units(frame)};
    for (const auto channel : ChannelSet::all().list()) {
      const Entry& entry = names_and_signs[f][static_cast<std::size_t>(channel)];
      one.channels.push_back({name(channel), entry.name, entry.sign, quantity(channel), geo_unit(channel),
                              description_of(channel, frame)});
    }
    made.all.push_back(std::move(one));
  }
  return made;
}

}  // namespace

const Conventions& conventions() {
  static const Conventions all = all_conventions();
  return all;
}

const Convention& convention(Frame frame) { return conventions().all[static_cast<std::size_t>(frame)]; }

Frame frame_from_name(std::string_view wanted) {
  return static_cast<Frame>(&conventions().named(wanted) - conventions().all.data());
}

UnitSystem usual_units(Frame frame) {
  return frame == Frame::enu || frame == Frame::tomofast ? UnitSystem::si : UnitSystem::geo;
}

FrameChannel in_frame(Channel channel, Frame frame, UnitSystem units) {
  const auto& there = convention(frame).channels[static_cast<std::size_t>(channel)];
  return {channel, there.name, there.sign, there.unit(units), there.description};
}

FrameChannel channel_from_frame(std::string_view wanted, Frame frame, UnitSystem units) {
  const Table& table = names_and_signs[static_cast<std::size_t>(frame)];
  for (std::size_t c = 0; c < channel_count; ++c) {
    const auto known = table[c].name;
    const bool with_g =
        frame == Frame::ubc && wanted.size() == 3 && wanted[0] == 'g' && wanted.substr(1) == known;
    if (wanted == known || with_g) return in_frame(static_cast<Channel>(c), frame, units);
  }
  std::array<std::string_view, channel_count> names;
  std::transform(table.begin(), table.end(), names.begin(), [](const Entry& e) { return e.name; });
  const auto meaning = meaning_elsewhere(conventions(), wanted, convention(frame));
  throw InputError("channels",
                   "\"" + std::string(wanted) + "\" is not a channel of the frame " +
                       std::string(name(frame)) + "." +
                       (meaning.empty() ? did_you_mean(wanted, names) : " " + meaning + "."),
                   "Allowed: " + joined(names) + ", or the groups all, vector, tensor.");
}

Column to_frame(Channel channel, std::span<const double> values, Frame frame, UnitSystem units) {
  return in_convention(convention(frame).channels[static_cast<std::size_t>(channel)], values, units);
}

Observed from_frame(const Column& column, Frame frame, UnitSystem units) {
  const auto there = channel_from_frame(column.name, frame, units);
  Observed out{there.channel, column.values};
  const double factor =
      there.sign *
      si_factor(quantity(there.channel), column.unit.empty() ? there.unit : std::string_view(column.unit));
  for (double& v : out.values) v *= factor;
  return out;
}

}  // namespace terrane::gravity
