#include <span>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/electromagnetic/survey/sampling.hpp"

namespace terrane::electromagnetic {

namespace {

/// One sum over edges.
struct Sample {
  View<const double> re[3], im[3];  // arrays of the components, with their layers
  View<const Index> first, axis, offset;
  View<const double> weight;
  View<double> values;
  TERRANE_FN void operator()(std::size_t n) const {
    double sum_re = 0, sum_im = 0;
    for (auto t = static_cast<std::size_t>(first[n]); t < static_cast<std::size_t>(first[n + 1]); ++t) {
      const auto a = axis[t];
      const auto at = static_cast<std::size_t>(offset[t]);
      sum_re += weight[t] * re[a][at];
      sum_im += weight[t] * im[a][at];
    }
    values[2 * n] = sum_re;
    values[2 * n + 1] = sum_im;
  }
};

template <class T>
Buffer<T> list_on_device(Stream& stream, const std::vector<T>& list) {
  return Buffer<T>(stream, std::span<const T>(list.data(), list.size()));
}

}  // namespace

Sampler::Sampler(Stream& stream, const Metric& metric, std::span<const EdgeSum> sums)
    : count_(sums.size()), values_(stream.device(), 2 * sums.size()) {
  std::vector<Index> first{0}, axis, offset;
  std::vector<double> weight;
  for (const auto& sum : sums) {
    for (const auto& term : sum) {
      const auto points = metric.edges(term.axis), box = points.grown(1);
      const auto n = static_cast<Index>(term.edge);
      const Index i = n % points.size(2), j = n / points.size(2) % points.size(1),
                  k = n / (points.size(2) * points.size(1));
      axis.push_back(term.axis);
      offset.push_back(((k + 1) * box.size(1) + j + 1) * box.size(2) + i + 1);
      weight.push_back(term.weight);
    }
    first.push_back(static_cast<Index>(weight.size()));
  }
  first_ = list_on_device(stream, first);
  axis_ = list_on_device(stream, axis);
  offset_ = list_on_device(stream, offset);
  weight_ = list_on_device(stream, weight);
}

std::vector<std::complex<double>> Sampler::of(Stream& stream, const EdgeVector& x) {
  Sample kernel;
  for (int a = 0; a < 3; ++a) {
    const auto& field = x.e[static_cast<std::size_t>(a)];
    const auto size = static_cast<std::size_t>(field.box().count());
    kernel.re[a] = {field.array(0).first(), size};
    kernel.im[a] = {field.array(1).first(), size};
  }
  kernel.first = std::as_const(first_).view();
  kernel.axis = std::as_const(axis_).view();
  kernel.offset = std::as_const(offset_).view();
  kernel.weight = std::as_const(weight_).view();
  kernel.values = values_.view();
  for_each(stream, count_, kernel);
  std::vector<double> values(2 * count_);
  values_.download(stream, std::span<double>(values.data(), values.size()));
  std::vector<std::complex<double>> all(count_);
  for (std::size_t n = 0; n < count_; ++n) all[n] = {values[2 * n], values[2 * n + 1]};
  return all;
}

}  // namespace terrane::electromagnetic
