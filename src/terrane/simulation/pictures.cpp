#include "terrane/simulation/pictures.hpp"

#include <algorithm>

namespace terrane {

Pictures::Pictures(std::size_t count, std::size_t numbers, const std::filesystem::path& beside)
    : count_(count), numbers_(numbers) {
  if (beside.empty()) held_.resize(count * numbers);
  else if (count * numbers > 0)
    spool_ = std::make_shared<io::Spool>(beside.string(), count, numbers * sizeof(float));
}

void Pictures::put(std::size_t n, std::span<const float> values) {
  if (spool_) return spool_->put(n, std::as_bytes(values));
  std::copy(values.begin(), values.end(), held_.begin() + static_cast<std::ptrdiff_t>(n * numbers_));
}

void Pictures::get(std::size_t n, std::span<float> values) const {
  if (spool_) return spool_->get(n, std::as_writable_bytes(values));
  std::copy_n(held_.begin() + static_cast<std::ptrdiff_t>(n * numbers_), values.size(), values.begin());
}

std::vector<float> Pictures::all() const {
  std::vector<float> values(count_ * numbers_);
  for (std::size_t n = 0; n < count_; ++n) get(n, std::span(values).subspan(n * numbers_, numbers_));
  return values;
}

}  // namespace terrane
