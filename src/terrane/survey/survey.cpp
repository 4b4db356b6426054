#include "terrane/survey/survey.hpp"

#include <algorithm>

namespace terrane {

const Column* Survey::find(const std::string& name) const {
  const auto it =
      std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return it == columns.end() ? nullptr : &*it;
}

}  // namespace terrane
