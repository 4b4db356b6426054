// Cycles in single precision; multigrid_double.cu has those in double.
#include "terrane/solve/multigrid/hierarchy.hpp"

namespace terrane::solve {

template class Multigrid<float>;
template class Multigrid<Complex<float>>;

namespace {

struct FindSteps {
  GridView<const double> exact;
  GridView<const float> rounded;
  GridView<std::int32_t> steps;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    steps(k, j, i) = detail::steps_between(rounded(k, j, i), exact(k, j, i));
  }
};

}  // namespace

SplitNetwork split(Stream& stream, Network<double> exact, const Multigrid<float>& rounded) {
  if (exact.shift != 0 || !rounded.finest_link(0).points().contains(exact.points()))
    throw ShapeError("multigrid", "a matrix in two halves has no storage, and the grid of the levels");
  SplitNetwork network;
  const auto points = exact.points();
  for (std::size_t a = 0; a < 3; ++a) {
    const int axis = static_cast<int>(a);
    network.rounded[a] = rounded.finest_link(axis);
    network.steps[a] = Field<std::int32_t>(stream, points);
    for_each(stream, points.empty() ? points : points.grown(axis, 0, 1),
             FindSteps{std::as_const(exact.link[a]).view(), std::as_const(network.rounded[a]).view(),
                       network.steps[a].view()});
    stream.wait();
    exact.link[a] = {};
  }
  return network;
}

}  // namespace terrane::solve
