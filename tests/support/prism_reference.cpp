#include "prism_reference.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "terrane/base/constants.hpp"

namespace terrane::test {

namespace {

Quad parse(const std::string& text) {
#if defined(TERRANE_QUADMATH)
  return strtoflt128(text.c_str(), nullptr);
#else
  return std::strtold(text.c_str(), nullptr);
#endif
}

double squared(Quad x) { return static_cast<double>(x * x); }

}  // namespace

double ReferenceRow::aspect() const {
  const double sides[3] = {prism.east - prism.west, prism.north - prism.south, prism.top - prism.bottom};
  return *std::max_element(sides, sides + 3) / *std::min_element(sides, sides + 3);
}

std::vector<ReferenceRow> reference_rows() {
  std::ifstream file(TERRANE_SOURCE_DIR "/tests/support/data/prism_quad_precision.csv");
  if (!file) throw std::runtime_error("tests/support/data/prism_quad_precision.csv is missing");
  // The file's order of the gradient is xx, xy, xz, yy, yz, zz.
  constexpr int channel_of[10] = {0, 1, 2, 3, 4, 7, 8, 5, 9, 6};
  std::vector<ReferenceRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("case,")) continue;
    std::stringstream cells(line);
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    const auto number = [&](std::size_t c) { return std::stod(cell.at(c)); };
    ReferenceRow row{cell.at(0),
                     {number(1), number(2), number(3), number(4), number(5), number(6)},
                     {number(7), number(8), number(9)},
                     {}};
    for (std::size_t q = 0; q < 10; ++q)
      row.value[static_cast<std::size_t>(channel_of[q])] = parse(cell.at(10 + q));
    rows.push_back(row);
  }
  return rows;
}

double NormwiseError::largest() const {
  return std::isfinite(v + g + gradient) ? std::max({v, g, gradient}) : INFINITY;
}

NormwiseError normwise_error(const ReferenceRow& row, const std::array<double, 10>& value) {
  double error[3] = {}, norm[3] = {};
  for (std::size_t c = 0; c < 10; ++c) {
    const Quad truth = row.value[c];
    if (truth != truth) continue;  // singular
    const int kind = c == 0 ? 0 : c <= 3 ? 1 : 2;
    const double weight = c >= 7 ? 2 : 1;  // off-diagonals stand twice in the tensor
    error[kind] += weight * squared(static_cast<Quad>(value[c]) - truth);
    norm[kind] += weight * squared(truth);
  }
  const Prism& p = row.prism;
  double g_scale = std::sqrt(norm[1]);
  if (row.inside())
    g_scale = std::max(g_scale, default_gravitational_constant *
                                    std::min({p.east - p.west, p.north - p.south, p.top - p.bottom}));
  return {std::sqrt(error[0] / norm[0]), std::sqrt(error[1]) / g_scale,
          norm[2] > 0 ? std::sqrt(error[2] / norm[2]) : 0};
}

}  // namespace terrane::test
