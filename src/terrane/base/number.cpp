#include "terrane/base/number.hpp"

#include <locale.h>

#include <cerrno>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace terrane {

std::from_chars_result read_number(std::string_view text, double& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(text.data(), text.data() + text.size(), value);
#else
  return read_number_by_strtod(text, value);
#endif
}

std::from_chars_result read_number_by_strtod(std::string_view text, double& value) {
  static const auto c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  // strtod also accepts blanks, "+" and hexadecimal digits, unlike std::from_chars, which reads only the 0 of
  // "0x1".
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || std::string_view("0123456789.iInN").find(digits.front()) == std::string_view::npos)
    return {text.data(), std::errc::invalid_argument};
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const std::string copy(hexadecimal ? text.substr(0, text.size() - digits.size() + 1) : text);
  char* end = nullptr;
  const int before = errno;
  errno = 0;
  const double number = strtod_l(copy.c_str(), &end, c_locale);
  const bool out_of_range = errno == ERANGE && (number == 0 || std::isinf(number));
  errno = before;
  if (end == copy.c_str()) return {text.data(), std::errc::invalid_argument};
  const auto* last = text.data() + (end - copy.c_str());
  if (out_of_range) return {last, std::errc::result_out_of_range};
  value = number;
  return {last, std::errc{}};
}

}  // namespace terrane
