// Sums of the ten quantities, by channel.
#pragma once

#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/formula/prism.hpp"

namespace terrane::gravity {

/// The quantity of a channel.
template <Channel channel, class T>
TERRANE_FN constexpr T& quantity_of(Quantities<T>& q) {
  if constexpr (channel == Channel::potential) return q.v;
  else if constexpr (channel == Channel::g_e) return q.e;
  else if constexpr (channel == Channel::g_n) return q.n;
  else if constexpr (channel == Channel::g_u) return q.u;
  else if constexpr (channel == Channel::g_ee) return q.ee;
  else if constexpr (channel == Channel::g_nn) return q.nn;
  else if constexpr (channel == Channel::g_uu) return q.uu;
  else if constexpr (channel == Channel::g_en) return q.en;
  else if constexpr (channel == Channel::g_eu) return q.eu;
  else return q.nu;
}

/// Sums of all ten quantities, for add_multipole().
template <class T, bool by_laplace>
struct QuantitySum {
  static constexpr bool uu_by_laplace = by_laplace;
  Quantities<T> of{T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0)};

  template <Channel channel>
  TERRANE_FN void add(const T& value) {
    quantity_of<channel>(of) += value;
  }
};

/// Running sums of the channels in Bits (a ChannelSet), in the order of the channels. Quantities that no sum
/// needs are never computed: everything is inlined, and the compiler drops what is not used. With leave_uu,
/// Γuu is not summed if Γee and Γnn are, because it follows from their sums.
template <unsigned Bits, class T, bool leave_uu>
struct ChannelSums {
  static constexpr ChannelSet channels = ChannelSet::from_bits(Bits);
  static constexpr bool has(Channel c) { return channels.contains(c); }
  static constexpr bool uu_by_laplace = has(Channel::g_ee) && has(Channel::g_nn);
  static constexpr int count = static_cast<int>(channels.size());
  T sum[count];

  /// Index of a channel among the sums.
  static constexpr int place(Channel wanted) {
    int c = 0;
    for (unsigned channel = 0; channel < static_cast<unsigned>(wanted); ++channel)
      c += (Bits >> channel) & 1U;
    return c;
  }
  TERRANE_FN void clear() {
    unrolled<count>([&](auto c) { sum[c] = T(0); });
  }
  template <Channel channel>
  TERRANE_FN void add(const T& value) {
    if constexpr (has(channel)) sum[place(channel)] += value;
  }
  TERRANE_FN void add(Quantities<T> q) {
    unrolled<static_cast<int>(channel_count)>([&](auto n) {
      constexpr auto channel = static_cast<Channel>(decltype(n)::value);
      if constexpr (!(leave_uu && uu_by_laplace && channel == Channel::g_uu))
        add<channel>(quantity_of<channel>(q));
    });
  }
  TERRANE_FN void add(const T& weight, Quantities<T> q) {
    unrolled<static_cast<int>(channel_count)>([&](auto n) {
      constexpr auto channel = static_cast<Channel>(decltype(n)::value);
      quantity_of<channel>(q) = weight * quantity_of<channel>(q);
    });
    add(q);
  }
};

}  // namespace terrane::gravity
