#include "terrane/io/edi_spectra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iterator>

#include "terrane/base/error.hpp"

namespace terrane::io::edi {

namespace {

using Z = std::complex<double>;
using SpectralMatrix = std::array<std::array<Z, 2>, 2>;
using magnetotelluric::Transfer;

/// The spectra ⟨i j*⟩ of pairs of channels i, j in a block.
class Powers {
 public:
  Powers(const Block& block, std::size_t channels) : block_(block), channels_(channels) {}

  Z operator()(int i, int j) const {
    if (i == j) return at(i, i);
    return i > j ? Z(at(i, j), at(j, i)) : Z(at(j, i), -at(i, j));
  }

 private:
  double at(int row, int column) const {
    return block_.values[static_cast<std::size_t>(row) * channels_ + static_cast<std::size_t>(column)];
  }
  const Block& block_;
  std::size_t channels_;
};

/// Number of independent estimates that were averaged; 0: unknown.
double estimates(const TextReader& in, const Block& block) {
  constexpr double fewest = 4;  // from fewer averages two complex numbers cannot be estimated with an error
  const double averages = number_in(in, block.options, "avgt").value_or(0),
               width = number_in(in, block.options, "bw").value_or(0);
  double best = 0;
  for (const double n : {averages, averages * width})
    if (n > fewest && (best == 0 || n < best)) best = n;
  return best;
}

/// One row of Z, or T: the transfer functions from the two magnetic components to one channel.
class Row {
 public:
  Row(const Powers& powers, int output, std::array<int, 2> h, std::array<int, 2> r, const SpectralMatrix& w)
      : powers_(powers), output_(output), h_(h), r_(r), w_(w) {
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t k = 0; k < 2; ++k) value_[l] += powers(output, r[k]) * w[k][l];
  }
  Z value(std::size_t l) const { return value_[l]; }
  /// Standard deviation of the real and of the imaginary part.
  double error(std::size_t l, double estimates) const {
    if (estimates == 0) return NAN;
    double left = powers_(output_, output_).real();
    for (std::size_t a = 0; a < 2; ++a) {
      left -= 2 * (value_[a] * powers_(h_[a], output_)).real();
      for (std::size_t b = 0; b < 2; ++b)
        left += (value_[a] * powers_(h_[a], h_[b]) * std::conj(value_[b])).real();
    }
    Z spread = 0;
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t m = 0; m < 2; ++m) spread += w_[k][l] * std::conj(w_[m][l]) * powers_(r_[m], r_[k]);
    return std::sqrt(std::max(0.0, left) * std::abs(spread) / (estimates - 2) / 2);
  }

 private:
  const Powers& powers_;
  int output_;
  std::array<int, 2> h_, r_;
  SpectralMatrix w_;
  std::array<Z, 2> value_{};
};

}  // namespace

SpectraChannels channels_of_spectra(const TextReader& in, const File& file) {
  auto order = file.order;
  if (order.empty())
    for (const auto& channel : file.channels) order.push_back(channel.id);
  SpectraChannels found;
  found.count = order.size();
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto channel = std::find_if(file.channels.begin(), file.channels.end(),
                                      [&](const Channel& one) { return one.id == order[n]; });
    if (channel == file.channels.end())
      in.fail(fmt::format("spectra have a channel {}, and none is defined so", shown(order[n])),
              "Lines such as >HMEAS ID=11.001 CHTYPE=HX define channels.");
    const auto& type = channel->type;
    const auto take = [&](const char* name, int& first, int* second) {
      if (type != name) return;
      if (first < 0) first = static_cast<int>(n);
      else if (second != nullptr && *second < 0) *second = static_cast<int>(n);
    };
    take("hx", found.hx, &found.rx);  // a second HX is that of a remote site
    take("hy", found.hy, &found.ry);
    take("hz", found.hz, nullptr);
    take("ex", found.ex, nullptr);
    take("ey", found.ey, nullptr);
    for (const auto* remote : {"rx", "rhx", "rrhx"}) take(remote, found.rx, nullptr);
    for (const auto* remote : {"ry", "rhy", "rrhy"}) take(remote, found.ry, nullptr);
  }
  if (found.hx < 0 || found.hy < 0)
    in.fail("spectra have no channels HX and HY", "CHTYPE= says what a channel is.");
  return found;
}

Transfer transfer_of(const TextReader& in, const Block& spectra, const SpectraChannels& channels) {
  if (spectra.values.size() != channels.count * channels.count)
    throw InputError(
        fmt::format("{}:{}", in.name(), spectra.line),
        fmt::format("{} numbers in spectra of {} channels", spectra.values.size(), channels.count),
        fmt::format("There must be {}.", channels.count * channels.count));
  Transfer made;
  made.value.fill({NAN, NAN});
  made.error.fill(NAN);
  const Powers powers(spectra, channels.count);
  const std::array<int, 2> h{channels.hx, channels.hy};
  auto r = h;
  if (channels.rx >= 0 && channels.ry >= 0 && powers(channels.rx, channels.rx).real() > 0 &&
      powers(channels.ry, channels.ry).real() > 0)
    r = {channels.rx, channels.ry};
  const Z xx = powers(h[0], r[0]), xy = powers(h[0], r[1]), yx = powers(h[1], r[0]), yy = powers(h[1], r[1]),
          det = xx * yy - xy * yx;
  const double size = std::abs(det);
  if (!(size > 0) || !std::isfinite(size)) return made;  // the result stays NaN, which marks a missing value
  const SpectralMatrix w{{{yy / det, -xy / det}, {-yx / det, xx / det}}};
  const double count = estimates(in, spectra);
  const auto take = [&](int output, std::size_t x_element) {
    if (output < 0) return;
    const Row row(powers, output, h, r, w);
    for (std::size_t l = 0; l < 2; ++l) {
      made.value[x_element - l] = row.value(l);
      made.error[x_element - l] = row.error(l, count);
    }
  };
  take(channels.ex, 3);  // ZXX, ZXY
  take(channels.ey, 1);  // ZYX, ZYY
  take(channels.hz, 5);  // TX, TY
  return made;
}

}  // namespace terrane::io::edi
