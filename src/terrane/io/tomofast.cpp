#include "terrane/io/tomofast.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

constexpr std::int64_t most_rows = 10'000'000'000;

std::size_t row_count(TextReader& in, std::string_view what) {
  const auto count = static_cast<std::size_t>(in.integer(what, 1, most_rows));
  if (!in.rest_of_line().empty())
    in.fail(fmt::format("more than {} stands on its line", what), "It may not be a Tomofast-x file.");
  if (count > in.bytes_left() / 2 + 1)
    in.fail(fmt::format("{} is {}, and the file is too short for that", what, count), "It may be truncated.");
  return count;
}

}  // namespace

PrismData read_tomofast_grid(TextReader& in) {
  const auto count = row_count(in, "the number of cells");
  PrismData data;
  data.properties = {{"density", {}}};
  auto& density = data.properties.front().values;
  auto& prisms = data.prisms;
  std::vector<double> row;
  std::size_t columns = 0;
  for (std::size_t cell = 0; cell < count; ++cell) {
    row.clear();
    const auto place = in.mark();
    std::string_view word;
    row.push_back(in.number("x1 of a cell"));
    const auto line = in.line_number();
    while (true) {
      const auto before = in.mark();
      if (!in.token(word)) break;
      const bool same_line = in.line_number() == line;
      in.rewind(before);
      if (!same_line || row.size() > 10) break;
      row.push_back(in.number("a limit, density or index of a cell"));
    }
    if (cell == 0) columns = row.size();
    if (row.size() != columns || (columns != 9 && columns != 10)) {
      in.rewind(place);
      in.token(word);
      in.fail(fmt::format("{} numbers on the line of a cell", row.size()),
              "Allowed: x1 x2 y1 y2 z1 z2, the density or not, i j k; the same on every line.");
    }
    const Prism p{row[0], row[1], row[2], row[3], 0.0 - row[5], 0.0 - row[4]};
    if (!(p.west < p.east) || !(p.south < p.north) || !(p.bottom < p.top))
      in.fail("a cell without extent", "x1 < x2, y1 < y2 and z1 < z2 must hold.");
    prisms.push_back(p);
    density.push_back(columns == 10 ? row[6] : 0.0);
  }
  in.expect_end(fmt::format("the {} cells", count));
  return data;
}

PrismData read_tomofast_grid(const std::string& path) {
  auto in = TextReader::open(path);
  return read_tomofast_grid(in);
}

Table read_tomofast_data(TextReader& in) {
  const auto count = row_count(in, "the number of stations");
  Table table;
  table.source = in.name();
  table.attributes["frame"] = "enu";
  table.columns = {{"easting", "m", "easting", {}},
                   {"northing", "m", "northing", {}},
                   {"up", "m", "elevation", {}},
                   {"g_u", "m/s2", "upward attraction", {}}};
  for (std::size_t station = 0; station < count; ++station) {
    const double east = in.number("x of a station"), north = in.number("y of a station");
    const double down = in.number("z of a station"), value = in.number("the value of a station");
    table.columns[0].values.push_back(east);
    table.columns[1].values.push_back(north);
    table.columns[2].values.push_back(0.0 - down);
    table.columns[3].values.push_back(0.0 - value);
    table.lines.push_back(in.line_number());
  }
  in.expect_end(fmt::format("the {} stations", count));
  return table;
}

Table read_tomofast_data(const std::string& path) {
  auto in = TextReader::open(path);
  return read_tomofast_data(in);
}

}  // namespace terrane::io
