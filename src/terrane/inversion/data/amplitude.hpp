// Data that are amplitudes of vectors, F = |G_a m|, such as the strength of an anomalous magnetic field
// (Shearer & Li 2004; Li, Shearer, Haney & Dannemiller 2010). G has three rows for such a datum, one for each
// component of the vector b = G_a m, and one row for any other datum. The derivative is
//
//   J = ûᵀ G_a,  û = b/|b|;  û = 0 where b = 0, although F has no derivative there
#pragma once

#include <memory>
#include <vector>

#include "terrane/inversion/data/forward.hpp"

namespace terrane::inversion {

/// G has its rows by observable, then by station; each set of data takes the rows of one observable, or of
/// three.
class AmplitudeForward final : public Forward {
 public:
  /// components: [sets] 1, or 3 for amplitudes. Throws ShapeError if G has other rows.
  AmplitudeForward(std::shared_ptr<const solve::LinearOperator> g, std::size_t stations,
                   std::vector<std::size_t> components);
  std::size_t rows() const override { return stations_ * components_.size(); }
  std::size_t columns() const override { return g_->columns(); }
  Linearised at(std::span<const double> model, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<const solve::LinearOperator> g_;
  std::size_t stations_;
  std::vector<std::size_t> components_;
};

}  // namespace terrane::inversion
