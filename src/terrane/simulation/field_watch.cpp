#include "terrane/simulation/field_watch.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

namespace terrane {

bool FieldWatch::lost_beyond(std::size_t done, double largest, double bound) {
  looked_ = done;
  if (!std::isfinite(largest)) return true;
  const bool before = above_;
  above_ = largest > growth * bound;
  return above_ && before;
}

bool FieldPlace::comes_before(const FieldPlace& other) const noexcept {
  const bool number = std::isfinite(value), is_other = std::isfinite(other.value);
  if (number != is_other) return is_other;
  if (number && value != other.value) return value > other.value;
  return at < other.at;
}

FieldPlace largest_of(Comm& comm, const FieldPlace& mine) {
  std::vector<FieldPlace> all(static_cast<std::size_t>(comm.size()), mine);
  if (comm.size() > 1)
    comm.gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  FieldPlace most = all.front();
  for (const auto& one : all)
    if (one.comes_before(most)) most = one;
  return most;
}

InputError lost_field(const std::string& where, const std::string& field, const std::string& unit,
                      std::size_t done, double time, const FieldPlace& place, const std::string& next) {
  const auto at =
      fmt::format("at easting {:.6g}, northing {:.6g}, up {:.6g} m, time {:.6g} s, after {} steps",
                  place.at[0], place.at[1], place.at[2], time, done);
  if (!std::isfinite(place.value))
    return {where, fmt::format("{} are no numbers any more {}", field, at), next};
  return {where,
          fmt::format("{} grow beyond all that sources can have made: {:.3g} {} {}", field, place.value, unit,
                      at),
          next};
}

}  // namespace terrane
