// Whether AddressSanitizer checks every access, which takes up to ten times as long: tests then go each way
// through the code once, where elsewhere they also compare many cases of it.
#pragma once

namespace terrane::test {

#if defined(__SANITIZE_ADDRESS__)  // GCC
inline constexpr bool checked_memory = true;
#elif defined(__has_feature)  // Clang
inline constexpr bool checked_memory = __has_feature(address_sanitizer);
#else
inline constexpr bool checked_memory = false;
#endif

}  // namespace terrane::test
