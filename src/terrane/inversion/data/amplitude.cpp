#include "terrane/inversion/data/amplitude.hpp"

#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"

namespace terrane::inversion {

namespace {

/// Calls use(datum, first row of G, number of its rows) for each datum; the rows are `stations` apart.
template <class Use>
void for_data(std::size_t stations, const std::vector<std::size_t>& components, const Use& use) {
  std::size_t first = 0;
  for (std::size_t set = 0; set < components.size(); ++set) {
    for (std::size_t s = 0; s < stations; ++s) use(set * stations + s, first + s, components[set]);
    first += components[set] * stations;
  }
}

class AmplitudeJacobian final : public solve::LinearOperator {
 public:
  /// along: [rows of g] the direction û of the vector (amplitude.hpp) for amplitudes, 1 for other data
  AmplitudeJacobian(std::shared_ptr<const solve::LinearOperator> g, std::size_t stations,
                    std::vector<std::size_t> components, std::vector<double> along)
      : g_(std::move(g)), stations_(stations), components_(std::move(components)), along_(std::move(along)) {}

  std::size_t rows() const override { return stations_ * components_.size(); }
  std::size_t columns() const override { return g_->columns(); }

  void apply(std::span<const double> model, std::span<double> data) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<double> b(along_.size());
    g_->apply(model, b);
    for_data(stations_, components_, [&](std::size_t datum, std::size_t row, std::size_t count) {
      data[datum] = 0;
      for (std::size_t c = 0; c < count; ++c, row += stations_) data[datum] += along_[row] * b[row];
    });
  }

  void apply_transpose(std::span<const double> data, std::span<double> model) const override {
    solve::expect_shapes(*this, model.size(), data.size());
    std::vector<double> b(along_.size());
    for_data(stations_, components_, [&](std::size_t datum, std::size_t row, std::size_t count) {
      for (std::size_t c = 0; c < count; ++c, row += stations_) b[row] = along_[row] * data[datum];
    });
    g_->apply_transpose(b, model);
  }

  /// The diagonal for amplitudes omits the products of different components, but is accurate enough to scale
  /// a descent.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override {
    solve::expect_shapes(*this, diagonal.size(), weight.size());
    std::vector<double> of_rows(along_.size());
    for_data(stations_, components_, [&](std::size_t datum, std::size_t row, std::size_t count) {
      for (std::size_t c = 0; c < count; ++c, row += stations_)
        of_rows[row] = along_[row] * along_[row] * weight[datum];
    });
    g_->weighted_diagonal(of_rows, diagonal);
  }
  bool has_quick_diagonal() const override { return false; }

 private:
  std::shared_ptr<const solve::LinearOperator> g_;
  std::size_t stations_;
  std::vector<std::size_t> components_;
  std::vector<double> along_;
};

}  // namespace

AmplitudeForward::AmplitudeForward(std::shared_ptr<const solve::LinearOperator> g, std::size_t stations,
                                   std::vector<std::size_t> components)
    : g_(std::move(g)), stations_(stations), components_(std::move(components)) {
  if (g_->rows() != stations * std::accumulate(components_.begin(), components_.end(), std::size_t{0}))
    throw ShapeError("amplitudes", "G has other rows than the data");
}

Linearised AmplitudeForward::at(std::span<const double> model, Progress* /*progress*/) const {
  std::vector<double> b(g_->rows()), along(b.size(), 1.0);
  g_->apply(model, b);
  Linearised made;
  made.data.resize(rows());
  for_data(stations_, components_, [&](std::size_t datum, std::size_t row, std::size_t count) {
    made.data[datum] = b[row];
    if (count == 1) return;
    const std::size_t at[3] = {row, row + stations_, row + 2 * stations_};
    const double size = std::hypot(b[at[0]], b[at[1]], b[at[2]]);
    made.data[datum] = size;
    for (const auto r : at) along[r] = size > 0 ? b[r] / size : 0;
  });
  made.jacobian = std::make_shared<AmplitudeJacobian>(g_, stations_, components_, std::move(along));
  return made;
}

}  // namespace terrane::inversion
