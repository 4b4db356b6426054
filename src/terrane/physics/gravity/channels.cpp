#include "terrane/physics/gravity/channels.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane::gravity {

std::vector<Channel> ChannelSet::list() const {
  std::vector<Channel> out;
  for (std::size_t c = 0; c < channel_count; ++c)
    if (contains(static_cast<Channel>(c))) out.push_back(static_cast<Channel>(c));
  return out;
}

Channel channel_from_name(std::string_view wanted) {
  const auto it = std::find(channel_names.begin(), channel_names.end(), wanted);
  if (it == channel_names.end())
    throw InputError(
        "channels", "\"" + std::string(wanted) + "\" is not a channel." + did_you_mean(wanted, channel_names),
        "Allowed: " + joined(channel_names) + ", or the groups all, vector, tensor.");
  return static_cast<Channel>(it - channel_names.begin());
}

ChannelSet channels_from_names(const std::vector<std::string>& names) {
  ChannelSet set;
  for (const auto& n : names) {
    if (n == "all") set = ChannelSet::all();
    else if (n == "vector") set = set | vector_channels;
    else if (n == "tensor") set = set | tensor_channels;
    else set.insert(channel_from_name(n));
  }
  if (set.empty())
    throw InputError("channels", "the list is empty", "Name at least one of " + joined(channel_names) + ".");
  return set;
}

}  // namespace terrane::gravity
