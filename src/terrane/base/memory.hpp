// How much memory a run may use; this is checked before memory is allocated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace terrane {

/// Memory that this process can still allocate, bytes: what Linux calls available, or what the limit of its
/// control group leaves, whichever is less.
std::size_t available_memory();

/// The largest resident set of this process so far, bytes.
std::size_t peak_memory();

/// A number of bytes as text: "184 MB", "1.2 GB".
std::string bytes_text(double bytes);

/// Converts "2 GB" to 2e9. Throws InputError that lists the units.
std::size_t bytes_from_text(std::string_view text);

struct MemoryBudget {
  std::size_t bytes = available_memory();

  /// Throws MemoryError "would need 12 GB for 5e8 stations, 3 GB are available" if `needed` exceeds `bytes`.
  void require(const std::string& where, const std::string& what, double needed) const;
};

}  // namespace terrane
