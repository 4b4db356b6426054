// Reads numbers from text like std::from_chars, also with standard libraries whose from_chars does not
// support double (libc++ before 20).
#pragma once

#include <charconv>
#include <string_view>

namespace terrane {

/// Reads the number at the beginning of `text`, in the decimal form of std::from_chars: no sign "+", no
/// blanks before it, no hexadecimal digits; also "inf" and "nan". `ptr` is the end of the number (the
/// beginning of the text if it has none); `ec` is std::errc::invalid_argument if there is no number and
/// std::errc::result_out_of_range if it exceeds the range of double; in both cases `value` is unchanged.
std::from_chars_result read_number(std::string_view text, double& value);

/// Does the same as read_number(), with strtod in the locale "C", for standard libraries without
/// std::from_chars for double.
std::from_chars_result read_number_by_strtod(std::string_view text, double& value);

}  // namespace terrane
