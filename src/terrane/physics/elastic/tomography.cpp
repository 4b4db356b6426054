#include "terrane/physics/elastic/tomography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"
#include "terrane/physics/elastic/rocks.hpp"

namespace terrane::elastic {

namespace {

constexpr const char* axis_names[3] = {"x", "y", "z"};

/// The numbers of one line that is not blank.
std::vector<double> numbers_of_line(io::TextReader& in, const char* what) {
  std::string_view line;
  std::vector<double> all;
  while (all.empty()) {
    if (!in.line(line)) in.fail(fmt::format("the file ends before {}", what));
    io::TextReader words(in.where(), std::string(line));
    words.set_comment('#');
    for (auto mark = words.mark();; mark = words.mark()) {
      std::string_view word;
      if (!words.token(word)) break;
      words.rewind(mark);
      all.push_back(words.number(what));
    }
  }
  return all;
}

std::vector<double> so_many(io::TextReader& in, const char* what, std::size_t least, std::size_t most) {
  auto all = numbers_of_line(in, what);
  if (all.size() < least || all.size() > most)
    in.fail(fmt::format("{}: {} numbers, where there are {}", what, all.size(), least));
  return all;
}

void check_rock(const io::TextReader& in, double p, double s, double density) {
  if (!(density > 0) || !(s >= 0) || !(3 * p * p > 4 * s * s))
    in.fail(fmt::format("no rock has v_P {:g} m/s, v_S {:g} m/s and {:g} kg/m³", p, s, density),
            "v_P is above 1.155 v_S, in m/s; densities are in kg/m³.");
}

}  // namespace

Tomography Tomography::read(const std::filesystem::path& file) {
  return read(file.string(), io::read_bytes(file.string()));
}

Tomography Tomography::read(const std::string& name, std::string text) {
  io::TextReader in(name, std::move(text));
  Tomography grid;
  grid.name_ = name;
  const auto corners = so_many(in, "origin and end", 6, 6), spacing = so_many(in, "spacings", 3, 3),
             counts = so_many(in, "numbers of points", 3, 3), limits = so_many(in, "limits", 6, 6);
  std::copy(limits.begin(), limits.end(), grid.limits_.begin());
  for (std::size_t k = 0; k < 6; k += 2)
    if (!(limits[k] <= limits[k + 1]))
      in.fail(fmt::format("limits from {:g} to {:g}", limits[k], limits[k + 1]));
  std::size_t all = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!(counts[d] >= 1 && counts[d] <= 1e6) || counts[d] != std::floor(counts[d]))
      in.fail(fmt::format("{:g} points along {}", counts[d], axis_names[d]));
    grid.origin_[d] = corners[d], grid.spacing_[d] = spacing[d];
    grid.count_[d] = static_cast<std::size_t>(counts[d]);
    const double end = corners[d] + spacing[d] * (counts[d] - 1);
    if (!(spacing[d] > 0) || std::fabs(end - corners[d + 3]) > 1e-3 * spacing[d])
      in.fail(
          fmt::format("along {} the grid of {:g} points every {:g} m from {:g} ends at {:g} and not at {:g}",
                      axis_names[d], counts[d], spacing[d], corners[d], end, corners[d + 3]));
    all *= grid.count_[d];
  }
  in.expect_memory(grid.most * std::min(all, in.bytes_left()));
  for (std::size_t n = 0; n < all; ++n) {
    const auto v = so_many(in, "a point", 6, 8);
    const std::array<std::size_t, 3> index{n % grid.count_[0], n / grid.count_[0] % grid.count_[1],
                                           n / grid.count_[0] / grid.count_[1]};
    for (std::size_t d = 0; d < 3; ++d)
      if (std::fabs(v[d] - grid.origin_[d] - grid.spacing_[d] * static_cast<double>(index[d])) >
          1e-2 * grid.spacing_[d])
        in.fail(fmt::format("the {} of point {} is {:g} m", axis_names[d], n + 1, v[d]),
                "Points come with x fastest, then y, then z upward.");
    check_rock(in, v[3], v[4], v[5]);
    const std::size_t columns = v.size() - 3;
    if (columns == 4 || (n > 0 && columns != grid.columns_))
      in.fail(fmt::format("{} numbers", v.size()), "Every point has six, or eight with Q_P and Q_S.");
    grid.columns_ = columns;
    grid.values_.push_back({v[3], v[4], v[5], columns == most ? v[6] : 0, columns == most ? v[7] : 0});
  }
  in.expect_end("the points of the grid");
  return grid;
}

Medium Tomography::at(const Vector& place) const {
  std::array<std::size_t, 3> low, high;
  Vector part;
  for (std::size_t d = 0; d < 3; ++d) {
    const double last = static_cast<double>(count_[d] - 1),
                 x = std::clamp((place[d] - origin_[d]) / spacing_[d], 0.0, last);
    low[d] = static_cast<std::size_t>(x);
    high[d] = std::min(low[d] + 1, count_[d] - 1);
    part[d] = x - static_cast<double>(low[d]);
  }
  std::array<double, most> v{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<std::size_t, 3> at;
    for (std::size_t d = 0; d < 3; ++d) {
      const bool upper = corner >> d & 1;
      weight *= upper ? part[d] : 1 - part[d];
      at[d] = upper ? high[d] : low[d];
    }
    const auto& here = values_[at[0] + count_[0] * (at[1] + count_[1] * at[2])];
    for (std::size_t k = 0; k < most; ++k) v[k] += weight * here[k];
  }
  for (std::size_t k = 0; k < 3; ++k) v[k] = std::clamp(v[k], limits_[2 * k], limits_[2 * k + 1]);
  const bool attenuates = columns_ == most && v[1] > 0;
  return rock_of(
      {v[0], v[1], v[2], attenuates ? v[3] : NAN, attenuates ? v[4] : NAN, NAN, NAN, 0, 0, 0, 0, 0}, name_);
}

}  // namespace terrane::elastic
