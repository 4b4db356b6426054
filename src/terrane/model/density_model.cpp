#include "terrane/model/density_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane {

MeshModel MeshModel::from_dense(TensorMesh mesh, const std::vector<double>& density) {
  if (density.size() != mesh.size())
    throw ShapeError("model.density",
                     fmt::format("{} values for a mesh of {} cells ({} east × {} north × {} up)",
                                 density.size(), mesh.size(), mesh.n_east(), mesh.n_north(), mesh.n_up()),
                     "Give one density for every cell, in [up, north, east] order.");
  MeshModel model{std::move(mesh), {}, {}};
  for (std::size_t c = 0; c < density.size(); ++c) {
    if (!std::isfinite(density[c]))
      throw InputError("model.density", fmt::format("cell {} has density {}", c, density[c]),
                       "Densities are finite; use 0 for cells that take no part.");
    if (density[c] != 0) {
      model.cell.push_back(c);
      model.density.push_back(density[c]);
    }
  }
  return model;
}

std::vector<double> MeshModel::dense() const {
  std::vector<double> values(mesh.size(), 0.0);
  for (std::size_t n = 0; n < cell.size(); ++n) values[cell[n]] = density[n];
  return values;
}

namespace {

PrismModel sources_of(const MeshModel& model) {
  PrismModel out;
  out.prisms.reserve(model.cell.size());
  for (auto c : model.cell) out.prisms.push_back(model.mesh.prism(c));
  out.density = model.density;
  return out;
}

PrismModel sources_of(const PrismModel& model) {
  PrismModel out;
  for (std::size_t n = 0; n < model.density.size(); ++n)
    if (model.density[n] != 0) {
      out.prisms.push_back(model.prisms[n]);
      out.density.push_back(model.density[n]);
    }
  return out;
}

std::size_t count_of(const MeshModel& model) { return model.cell.size(); }

std::size_t count_of(const PrismModel& model) {
  std::size_t n = 0;
  for (double rho : model.density) n += rho != 0;
  return n;
}

}  // namespace

PrismModel sources(const DensityModel& model) {
  return std::visit([](const auto& m) { return sources_of(m); }, model);
}

std::size_t source_count(const DensityModel& model) {
  return std::visit([](const auto& m) { return count_of(m); }, model);
}

}  // namespace terrane
