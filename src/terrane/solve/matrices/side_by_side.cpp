#include "terrane/solve/matrices/side_by_side.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::solve {

namespace {

/// Calls use(part, the columns of `model` that are this part's) for each part.
template <class T, class Use>
void for_parts(const std::vector<std::shared_ptr<const LinearOperator>>& parts, std::span<T> model,
               const Use& use) {
  std::size_t first = 0;
  for (const auto& part : parts) {
    use(*part, model.subspan(first, part->columns()));
    first += part->columns();
  }
}

}  // namespace

SideBySide::SideBySide(std::vector<std::shared_ptr<const LinearOperator>> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw ShapeError("operators side by side", "there are none");
  for (const auto& part : parts_)
    if (part->rows() != rows()) throw ShapeError("operators side by side", "they differ in rows");
}

std::size_t SideBySide::columns() const {
  std::size_t sum = 0;
  for (const auto& part : parts_) sum += part->columns();
  return sum;
}

void SideBySide::apply(std::span<const double> model, std::span<double> data) const {
  expect_shapes(*this, model.size(), data.size());
  std::fill(data.begin(), data.end(), 0.0);
  std::vector<double> of_part(data.size());
  for_parts(parts_, model, [&](const LinearOperator& part, std::span<const double> own) {
    part.apply(own, of_part);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] += of_part[i];
  });
}

void SideBySide::apply_transpose(std::span<const double> data, std::span<double> model) const {
  expect_shapes(*this, model.size(), data.size());
  for_parts(parts_, model,
            [&](const LinearOperator& part, std::span<double> own) { part.apply_transpose(data, own); });
}

void SideBySide::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  expect_shapes(*this, diagonal.size(), weight.size());
  for_parts(parts_, diagonal,
            [&](const LinearOperator& part, std::span<double> own) { part.weighted_diagonal(weight, own); });
}

bool SideBySide::has_quick_diagonal() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->has_quick_diagonal(); });
}

void SideBySide::row(std::size_t i, std::span<double> out) const {
  expect_shapes(*this, out.size(), rows());
  for_parts(parts_, out, [&](const LinearOperator& part, std::span<double> own) { part.row(i, own); });
}

}  // namespace terrane::solve
