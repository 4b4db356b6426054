// Tables of reference values: tests/support/data/*.csv, whose first line names the columns.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace terrane::test {

struct Row {
  std::map<std::string, std::string> cells;

  const std::string& text(const std::string& name) const { return cells.at(name); }
  /// NaN where the cell is empty.
  double operator()(const std::string& name) const {
    const auto& cell = cells.at(name);
    return cell.empty() ? NAN : std::stod(cell);
  }
};

inline std::vector<Row> rows_of(const std::string& file) {
  std::ifstream in(TERRANE_SOURCE_DIR "/tests/support/data/" + file);
  EXPECT_TRUE(in) << file;
  const auto cells = [](const std::string& line) {
    std::vector<std::string> out;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) out.push_back(cell);
    return out;
  };
  std::string line;
  std::getline(in, line);
  const auto names = cells(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    auto& row = rows.emplace_back();
    for (std::size_t n = 0; n < names.size(); ++n) row.cells[names[n]] = n < values.size() ? values[n] : "";
  }
  return rows;
}

}  // namespace terrane::test
