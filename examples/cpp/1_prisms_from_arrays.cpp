// Step 1: the field of prisms that are arrays of your own. Nothing is copied: views of the arrays go in, and
// the results are written into arrays that you hold.
#include <cmath>
#include <cstdio>
#include <terrane/physics/gravity/forward.hpp>
#include <vector>

using namespace terrane::gravity;

int main() {
  // Two cubes of 100 m, 3000 and −500 kg/m³, as faces in metres.
  const std::vector<double> west{-50, 150}, east{50, 250}, south{-50, -50}, north{50, 50}, bottom{-150, -150},
      top{-50, -50}, density{3000, -500};
  const Prisms prisms{west, east, south, north, bottom, top, density};

  // Stations along a line 20 m above the ground.
  std::vector<double> easting, northing, up;
  for (int n = -4; n <= 8; ++n) {
    easting.push_back(50.0 * n);
    northing.push_back(0);
    up.push_back(20);
  }

  // What is wanted: g upward and its gradient upward, right to 1e-10; the order of the arrays is the set's.
  Parameters parameters;
  parameters.channels = ChannelSet{Channel::g_u, Channel::g_uu};
  parameters.accuracy = 1e-10;
  std::vector<double> g_u(up.size()), g_uu(up.size());
  const auto report =
      forward(prisms, {easting, northing, up}, parameters, {parameters.channels, {g_u, g_uu}, {}});

  std::printf("%s\n", report.device.c_str());
  for (std::size_t n = 0; n < up.size(); ++n)
    std::printf("%6.0f m east: g_u %9.5f mGal, g_uu %8.3f E\n", easting[n], 1e5 * g_u[n], 1e9 * g_uu[n]);

  // A check: across the gap of the line g_uu is the slope of g_u, to the second order of a step of 0.1 m.
  const std::vector<double> at{30}, none{0}, above{20.05}, below{19.95};
  std::vector<double> high(1), low(1), slope(1), unused(1);
  const std::vector<double> middle{20};
  forward(prisms, {at, none, above}, parameters, {parameters.channels, {high, unused}, {}});
  forward(prisms, {at, none, below}, parameters, {parameters.channels, {low, unused}, {}});
  forward(prisms, {at, none, middle}, parameters, {parameters.channels, {unused, slope}, {}});
  const double difference = std::abs((high[0] - low[0]) / 0.1 / slope[0] - 1);
  std::printf("g_uu and the slope of g_u differ by %.1e\n", difference);
  return difference < 1e-5 ? 0 : 1;
}
