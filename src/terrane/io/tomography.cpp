#include "terrane/io/tomography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

constexpr const char* tomography_axes[3] = {"x", "y", "z"};

/// The numbers of the next line that is not blank.
std::vector<double> numbers_of_this_line(TextReader& in, const char* what) {
  std::string_view line;
  std::vector<double> all;
  while (all.empty()) {
    if (!in.line(line)) in.fail(fmt::format("the file ends before {}", what));
    TextReader words(in.where(), std::string(line));
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

std::vector<double> so_many_numbers(TextReader& in, const char* what, std::size_t least, std::size_t most) {
  auto all = numbers_of_this_line(in, what);
  if (all.size() < least || all.size() > most)
    in.fail(fmt::format("{}: {} numbers, where there are {}", what, all.size(), least));
  return all;
}

void check_rock(const TextReader& in, double p, double s, double density) {
  if (!(density > 0) || !(s >= 0) || !(3 * p * p > 4 * s * s))
    in.fail(fmt::format("no rock has v_P {:g} m/s, v_S {:g} m/s and {:g} kg/m³", p, s, density),
            "v_P is above 1.155 v_S, in m/s; densities are in kg/m³.");
}

}  // namespace

TomographyFile read_tomography(TextReader& in) {
  TomographyFile grid;
  const auto corners = so_many_numbers(in, "origin and end", 6, 6),
             spacing = so_many_numbers(in, "spacings", 3, 3),
             counts = so_many_numbers(in, "numbers of points", 3, 3),
             limits = so_many_numbers(in, "limits", 6, 6);
  std::copy(limits.begin(), limits.end(), grid.limits.begin());
  for (std::size_t k = 0; k < 6; k += 2)
    if (!(limits[k] <= limits[k + 1]))
      in.fail(fmt::format("limits from {:g} to {:g}", limits[k], limits[k + 1]));
  std::size_t all = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!(counts[d] >= 1 && counts[d] <= 1e6) || counts[d] != std::floor(counts[d]))
      in.fail(fmt::format("{:g} points along {}", counts[d], tomography_axes[d]));
    grid.origin[d] = corners[d], grid.spacing[d] = spacing[d];
    grid.count[d] = static_cast<std::size_t>(counts[d]);
    const double end = corners[d] + spacing[d] * (counts[d] - 1);
    if (!(spacing[d] > 0) || std::fabs(end - corners[d + 3]) > 1e-3 * spacing[d])
      in.fail(
          fmt::format("along {} the grid of {:g} points every {:g} m from {:g} ends at {:g} and not at {:g}",
                      tomography_axes[d], counts[d], spacing[d], corners[d], end, corners[d + 3]));
    all *= grid.count[d];
  }
  in.expect_memory(TomographyFile::most * std::min(all, in.bytes_left()));
  for (std::size_t n = 0; n < all; ++n) {
    const auto v = numbers_of_this_line(in, "a point");
    if (v.size() == 25 || v.size() == 27)
      in.fail("anisotropic tomography files, with 21 constants for each point, are not read",
              "Rock of 21 constants is [[elements.rock]] stiffness.");
    if (v.size() < 6 || v.size() > 8)
      in.fail(fmt::format("a point: {} numbers, where there are 6", v.size()));
    const std::array<std::size_t, 3> index{n % grid.count[0], n / grid.count[0] % grid.count[1],
                                           n / grid.count[0] / grid.count[1]};
    for (std::size_t d = 0; d < 3; ++d)
      if (std::fabs(v[d] - grid.origin[d] - grid.spacing[d] * static_cast<double>(index[d])) >
          1e-2 * grid.spacing[d])
        in.fail(fmt::format("the {} of point {} is {:g} m", tomography_axes[d], n + 1, v[d]),
                "Points come with x fastest, then y, then z upward.");
    check_rock(in, v[3], v[4], v[5]);
    const std::size_t columns = v.size() - 3;
    if (columns == 4 || (n > 0 && columns != grid.columns))
      in.fail(fmt::format("{} numbers", v.size()), "Every point has six, or eight with Q_P and Q_S.");
    grid.columns = columns;
    grid.values.push_back({v[3], v[4], v[5], columns == TomographyFile::most ? v[6] : 0,
                           columns == TomographyFile::most ? v[7] : 0});
  }
  in.expect_end("the points of the grid");
  return grid;
}

bool begins_tomography(std::string_view head) {
  constexpr std::array<std::size_t, 5> counts{6, 3, 3, 6, 6};
  std::size_t line = 0;
  while (line < counts.size() && !head.empty()) {
    const auto end = std::min(head.find('\n'), head.size());
    auto words = head.substr(0, end).substr(0, head.substr(0, end).find('#'));
    head.remove_prefix(std::min(end + 1, head.size()));
    std::size_t numbers = 0;
    constexpr std::string_view blanks = " \t\r";
    for (auto at = words.find_first_not_of(blanks); at != std::string_view::npos;
         at = words.find_first_not_of(blanks, at)) {
      const auto stop = std::min(words.find_first_of(blanks, at), words.size());
      double value = 0;
      if (!parse_number(words.substr(at, stop - at), value)) return false;
      ++numbers, at = stop;
    }
    if (numbers == 0) continue;
    if (line + 1 < counts.size() ? numbers != counts[line] : numbers < counts[line]) return false;
    ++line;
  }
  return line == counts.size();
}

Table to_table(const TomographyFile& grid) {
  Table table;
  table.columns = {{"easting", "m", "", {}},      {"northing", "m", "", {}},
                   {"up", "m", "", {}},           {"velocity_p", "m/s", "", {}},
                   {"velocity_s", "m/s", "", {}}, {"density", "kg/m3", "", {}}};
  if (grid.columns == TomographyFile::most) {
    table.columns.push_back({"quality_p", "1", "", {}});
    table.columns.push_back({"quality_s", "1", "", {}});
  }
  for (std::size_t n = 0; n < grid.values.size(); ++n) {
    const std::array<std::size_t, 3> index{n % grid.count[0], n / grid.count[0] % grid.count[1],
                                           n / grid.count[0] / grid.count[1]};
    for (std::size_t d = 0; d < 3; ++d)
      table.columns[d].values.push_back(grid.origin[d] + grid.spacing[d] * static_cast<double>(index[d]));
    for (std::size_t k = 0; k < grid.columns; ++k) table.columns[3 + k].values.push_back(grid.values[n][k]);
  }
  return table;
}

}  // namespace terrane::io
