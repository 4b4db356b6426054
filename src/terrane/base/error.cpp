#include "terrane/base/error.hpp"

#include "terrane/base/text.hpp"

namespace terrane {

namespace {

/// Indents all lines but the first, so that a log of several errors stays readable.
std::string indented(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "         ";
  }
  return out;
}

std::string assemble(const std::string& where, const std::string& problem, const std::string& next) {
  std::string text = where.empty() ? problem : where + ": " + problem;
  if (!next.empty()) text += "\n" + next;
  return indented(text);
}

}  // namespace

// Takes texts by value, because callers construct them for this call.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Error::Error(std::string where, std::string problem, std::string next)
    : std::runtime_error(printable(assemble(where, problem, next))),
      where_(printable(where)),
      problem_(printable(problem)),
      next_(printable(next)) {}

}  // namespace terrane
