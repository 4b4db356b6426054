// Numbers in text, as std::from_chars reads them, also where the standard library has none for double (libc++
// before 20).
#pragma once

#include <charconv>
#include <string_view>

namespace terrane {

/// The number at the beginning of `text`, in the decimal form of std::from_chars: no sign "+", no blanks
/// before it, no hexadecimal digits; also "inf" and "nan". `ptr` is where it ends (the text's beginning when
/// there is none); `ec` is std::errc::invalid_argument when there is none and std::errc::result_out_of_range
/// when no double holds it; then `value` stays as it was.
std::from_chars_result read_number(std::string_view text, double& value);

/// The same by strtod in the locale "C": where the standard library has no std::from_chars for double.
std::from_chars_result read_number_by_strtod(std::string_view text, double& value);

}  // namespace terrane
