// The ten gravity quantities, and sets of them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/field.hpp"
#include "terrane/base/units.hpp"

namespace terrane::gravity {

/// Derivatives of V = G ρ ∫ 1/r with respect to the observation point, axes easting, northing, up:
/// g_u is negative above a dense body.
enum class Channel : std::uint8_t { potential, g_e, g_n, g_u, g_ee, g_nn, g_uu, g_en, g_eu, g_nu };

inline constexpr std::size_t channel_count = 10;
inline constexpr std::array<std::string_view, channel_count> channel_names{
    "potential", "g_e", "g_n", "g_u", "g_ee", "g_nn", "g_uu", "g_en", "g_eu", "g_nu"};

constexpr std::string_view name(Channel c) { return channel_names[static_cast<std::size_t>(c)]; }
constexpr Quantity quantity(Channel c) {
  return c == Channel::potential ? Quantity::gravity_potential
         : c <= Channel::g_u     ? Quantity::acceleration
                                 : Quantity::acceleration_gradient;
}

/// A set of channels, always listed in the order of the enum.
class ChannelSet {
 public:
  constexpr ChannelSet() = default;
  constexpr ChannelSet(std::initializer_list<Channel> list) {
    for (auto c : list) insert(c);
  }
  static constexpr ChannelSet all() { return from_bits((1U << channel_count) - 1); }
  static constexpr ChannelSet from_bits(unsigned bits) {
    ChannelSet s;
    s.bits_ = bits;
    return s;
  }
  constexpr void insert(Channel c) { bits_ |= 1U << static_cast<unsigned>(c); }
  constexpr bool contains(Channel c) const { return (bits_ >> static_cast<unsigned>(c)) & 1U; }
  constexpr bool contains(ChannelSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  constexpr unsigned bits() const { return bits_; }
  constexpr ChannelSet operator|(ChannelSet other) const { return from_bits(bits_ | other.bits_); }
  constexpr ChannelSet operator&(ChannelSet other) const { return from_bits(bits_ & other.bits_); }
  friend constexpr bool operator==(ChannelSet, ChannelSet) = default;
  std::vector<Channel> list() const;
  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("channels", s.bits_, carried("channels"));
  }

 private:
  unsigned bits_ = 0;
};

inline constexpr ChannelSet vector_channels{Channel::g_e, Channel::g_n, Channel::g_u};
inline constexpr ChannelSet tensor_channels{Channel::g_ee, Channel::g_nn, Channel::g_uu,
                                            Channel::g_en, Channel::g_eu, Channel::g_nu};

/// "g_u" → Channel::g_u. Throws InputError that lists the names and the nearest one.
Channel channel_from_name(std::string_view name);
/// Names of channels, or the groups "all", "vector", "tensor".
ChannelSet channels_from_names(const std::vector<std::string>& names);

}  // namespace terrane::gravity
