// Every gravity formula, called in double on a device: what tools/check_formulas_cuda compiles.
#include "terrane/physics/gravity/formula/edge_face.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"

namespace terrane::gravity {

__device__ Quantities<double> operator+(const Quantities<double>& a, const Quantities<double>& b) {
  return {a.v + b.v,   a.e + b.e,   a.n + b.n,   a.u + b.u,   a.ee + b.ee,
          a.nn + b.nn, a.uu + b.uu, a.en + b.en, a.eu + b.eu, a.nu + b.nu};
}

__global__ void every_formula(const RelativePrism<double>* prisms, const MultipoleCoefficients* coefficients,
                              Quantities<double>* sums, double* g_u) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  const RelativePrism<double> p = prisms[i];
  const auto& t = coefficients[i];
  const double x = -0.5 * (p.x[0] + p.x[1]), y = -0.5 * (p.y[0] + p.y[1]), z = -0.5 * (p.z[0] + p.z[1]);
  sums[i] = edge_face<false>(p) + edge_face<true>(p) + stable<AnyDistance, false>(p) +
            stable<AnyDistance, true>(p) + stable<BeyondThreeSides, true>(p) +
            multipole<2, true>(t, x, y, z) + multipole<4, true>(t, x, y, z) +
            multipole<6, false>(t, x, y, z) + multipole<8, true>(t, x, y, z);
  g_u[i] = edge_face_g_u(p);
}

}  // namespace terrane::gravity
