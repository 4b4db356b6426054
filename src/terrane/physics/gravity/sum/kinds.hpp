// The three kinds of channels: V, g and Γ, each with a magnitude of its own.
#pragma once

#include "terrane/physics/gravity/channels.hpp"

namespace terrane::gravity {

inline constexpr int kind_count = 3;

/// 0: potential, 1: vector, 2: tensor
constexpr int kind_of(Channel c) { return c == Channel::potential ? 0 : c <= Channel::g_u ? 1 : 2; }

/// Weight of a squared channel in |g|² and ‖Γ‖²: Γen, Γeu and Γnu each occur twice.
constexpr double weight_of(Channel c) { return c >= Channel::g_en ? 2 : 1; }

}  // namespace terrane::gravity
