#include "terrane/solve/matrices/linear_operator.hpp"

#include <cmath>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::solve {

namespace {

constexpr std::size_t piece = 4096, pieces_per_task = 16;

}  // namespace

double tree_sum(std::span<double> parts) {
  for (std::size_t apart = 1; apart < parts.size(); apart *= 2)
    for (std::size_t k = 0; k + apart < parts.size(); k += 2 * apart) parts[k] += parts[k + apart];
  return parts.empty() ? 0 : parts[0];
}

double dot(std::span<const double> a, std::span<const double> b, int threads) {
  if (a.size() != b.size()) throw ShapeError("dot", "the vectors differ in length");
  const std::size_t pieces = (a.size() + piece - 1) / piece;
  const auto& kernels = matrix_kernels();
  std::vector<double> parts(pieces);
  for_each((pieces + pieces_per_task - 1) / pieces_per_task, threads, [&](std::size_t task) {
    for (std::size_t p = task * pieces_per_task; p < std::min((task + 1) * pieces_per_task, pieces); ++p)
      parts[p] = kernels.dot_double(a.data() + p * piece, b.data() + p * piece,
                                    std::min(piece, a.size() - p * piece));
  });
  return tree_sum(parts);
}

double norm(std::span<const double> a, int threads) { return std::sqrt(dot(a, a, threads)); }

void expect_shapes(const LinearOperator& g, std::size_t model, std::size_t data) {
  if (model != g.columns())
    throw ShapeError("operator: model",
                     std::to_string(model) + " values for " + std::to_string(g.columns()) + " columns");
  if (data != g.rows())
    throw ShapeError("operator: data",
                     std::to_string(data) + " values for " + std::to_string(g.rows()) + " rows");
}

void LinearOperator::row(std::size_t i, std::span<double> out) const {
  std::vector<double> one(rows());
  one.at(i) = 1;
  apply_transpose(one, out);
}

double dot_product_test(const LinearOperator& g, std::span<const double> model,
                        std::span<const double> data) {
  std::vector<double> forward(g.rows()), back(g.columns());
  g.apply(model, forward);
  g.apply_transpose(data, back);
  const double scale = norm(forward) * norm(data);
  return std::fabs(dot(forward, data) - dot(model, back)) / (scale > 0 ? scale : 1);
}

}  // namespace terrane::solve
