// How much memory a run may take. It is asked before memory is allocated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace terrane {

/// Memory that this process can still get: what Linux calls available, or what its control group leaves when
/// that is less. Bytes.
std::size_t available_memory();

/// The most memory this process has held so far (resident set). Bytes.
std::size_t peak_memory();

/// "184 MB", "1.2 GB".
std::string bytes_text(double bytes);

/// "2 GB" → 2e9. Throws InputError that lists the units.
std::size_t bytes_from_text(std::string_view text);

struct MemoryBudget {
  std::size_t bytes = available_memory();

  /// Throws MemoryError "would need 12 GB for 5e8 stations, 3 GB are available" when `needed` does not fit.
  void require(const std::string& where, const std::string& what, double needed) const;
};

}  // namespace terrane
