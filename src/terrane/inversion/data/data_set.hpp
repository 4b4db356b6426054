// Sets of data of one kind, and their rows among all data.
#pragma once

#include <cstddef>
#include <string>

namespace terrane::inversion {

/// Data of one kind: rows first .. first + count − 1 of the operator G (data = G · model).
struct DataSet {
  std::string name, unit;  ///< "g_u", "mGal"
  std::size_t first = 0, count = 0;
};

}  // namespace terrane::inversion
