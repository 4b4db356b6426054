// What the name of a channel means in the frames of other programs, for error messages: a user who writes g_z
// in frame enu probably has data in harmonica's frame, where g_z is g_u with the other sign.
#pragma once

#include <string>
#include <string_view>

#include "terrane/survey/convention.hpp"

namespace terrane::gravity {

/// "g_z is g_u with the other sign in the frame harmonica", one such phrase for each meaning. Empty if no
/// other frame has a channel of that name.
inline std::string meaning_elsewhere(const Conventions& all, std::string_view wanted,
                                     const Convention& here) {
  std::string said, before;
  for (const auto& frame : all.all) {
    const auto* there = frame.name == here.name ? nullptr : frame.find(wanted);
    const auto* own = there == nullptr ? nullptr : here.of_channel(there->channel);
    if (own == nullptr) continue;
    auto meaning = std::string(own->name) + (own->sign == there->sign ? "" : " with the other sign");
    if (meaning == before) said += ", " + std::string(frame.name);
    else
      said += (said.empty() ? std::string(wanted) + " is " : ", and ") + meaning + " in the frame " +
              std::string(frame.name);
    before = std::move(meaning);
  }
  return said;
}

}  // namespace terrane::gravity
