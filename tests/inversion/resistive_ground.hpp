// A conductive block below a short dipole-dipole line, with noise of 3 %.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "terrane/inversion/loop/invert.hpp"
#include "terrane/physics/electric/inverse/direct_current.hpp"
#include "terrane/physics/electric/survey/arrays.hpp"

namespace terrane::inversion {

struct ResistiveGround {
  TensorMesh mesh;
  electric::Electrodes electrodes;
  std::vector<double> truth;  ///< Ω·m
  std::vector<double> data;   ///< ln ρ_a

  /// South and north: of the block.
  explicit ResistiveGround(double south = -40, double north = 40) {
    const auto faces = [](double half, double width) {
      std::vector<double> x;
      for (double at = -half; at < half + 1; at += width) x.push_back(at);
      for (const double step : {20.0, 40.0, 80.0, 160.0}) {
        x.insert(x.begin(), x.front() - step);
        x.push_back(x.back() + step);
      }
      return x;
    };
    std::vector<double> down{0};
    for (const double step : {5., 5., 5., 5., 10., 10., 20., 40., 80., 160.})
      down.insert(down.begin(), down.front() - step);
    mesh = TensorMesh(faces(70, 10), faces(60, 20), down);
    electrodes = electric::arrays_on_line({{-60, 0, 0}, 90, 10, 13}, electric::ArrayKind::dipole_dipole, 6);
    truth.assign(mesh.size(), 100.0);
    for (std::size_t c = 0; c < mesh.size(); ++c) {
      const auto b = mesh.prism(c);
      const bool inside = b.west >= -10 && b.east <= 30 && b.south >= south && b.north <= north &&
                          b.top <= -5 && b.bottom >= -20;
      if (inside) truth[c] = 10;
    }
    data = physics()->at(truth).data;
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 0.03);
    for (double& d : data) d += noise(random);
  }

  double reference() const { return std::log(100.0); }
  static double block_east() { return 10; }
  static double block_up() { return -12.5; }

  std::shared_ptr<const Forward> physics(int threads = 0) const {
    return std::make_shared<electric::inverse::DirectCurrent>(
        mesh, std::vector<std::uint32_t>{}, std::vector<double>{}, electrodes, electric::Parameters{},
        electric::Datum::log_apparent_resistivity, Device{Device::Kind::cpu, -1}, threads);
  }

  Problem problem(int threads = 0) const {
    Problem p;
    p.mesh = mesh;
    p.forward = std::make_shared<LogarithmForward>(physics(threads));
    p.data = data;
    p.sigma.assign(data.size(), 0.03);
    p.sets = {{"apparent_resistivity", "ohm m", 0, data.size()}};
    p.reference.assign(mesh.size(), reference());
    return p;
  }

  Settings settings() const {
    Settings s;
    s.alphas = Alphas::from_lengths({20, 40, 10});
    s.weighting = Weighting::none;
    return s;
  }
};

}  // namespace terrane::inversion
