#include "terrane/inversion/direct_current.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/services.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::inversion {

using electric::Datum;

DirectCurrent::DirectCurrent(TensorMesh mesh, std::vector<std::uint32_t> active, std::vector<double> ground,
                             electric::Electrodes electrodes, const electric::Parameters& parameters,
                             Datum datum, int threads, Comm* comm, std::shared_ptr<solve::Crew> crew,
                             int at_once)
    : mesh_(std::move(mesh)),
      active_(std::move(active)),
      ground_(std::move(ground)),
      electrodes_(std::move(electrodes)),
      parameters_(parameters),
      datum_(datum),
      threads_(threads),
      comm_(comm && comm->size() > 1 ? comm : nullptr),
      crew_(std::move(crew)),
      at_once_(at_once) {}

/// The other ranks solve for electrodes of this conductivity, too.  all: those of potentials as well
void DirectCurrent::ask(const std::vector<double>& conductivity, bool all) const {
  if (comm_ == nullptr) return;
  call_for_service(*comm_, crew_);
  Packet packet;
  packet.put(Service::currents);
  for (const auto* faces : {&mesh_.easting(), &mesh_.northing(), &mesh_.up()}) packet.put(*faces);
  packet.put(conductivity);
  packet.put(ground_);
  packet.put(electrodes_.place);
  packet.put(electrodes_.arrays);
  packet.put(parameters_);
  packet.put(threads_);
  packet.put(all);
  packet.put(at_once_);
  packet.broadcast(*comm_);
}

void serve_currents(Packet packet, Comm& comm) {
  serve_in_step(comm, [&] {
    const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
               up = packet.get_vector<double>(), conductivity = packet.get_vector<double>(),
               ground = packet.get_vector<double>();
    electric::Electrodes electrodes;
    electrodes.place = packet.get_vector<electric::Point>();
    electrodes.arrays = packet.get_vector<electric::Array>();
    const auto parameters = packet.get<electric::Parameters>();
    Stream stream({Device::Kind::cpu}, false, packet.get<int>());
    const bool all = packet.get<bool>();
    const int at_once = packet.get<int>();
    const TensorMesh mesh(easting, northing, up);
    electric::help(mesh, conductivity, ground, electrodes, parameters, stream, all, comm, at_once);
  });
}

const std::vector<double>& DirectCurrent::unit() const {
  if (unit_.empty()) {
    Stream stream({Device::Kind::cpu}, false, threads_);  // before others wait
    ask(std::vector<double>(mesh_.size(), 1.0), false);
    unit_ = electric::unit_transfers(mesh_, ground_, electrodes_, parameters_, stream, comm_, at_once_);
  }
  return unit_;
}

Linearised DirectCurrent::at(std::span<const double> resistivity, Progress* progress) const {
  Stream stream({Device::Kind::cpu}, false, threads_);
  std::vector<double> conductivity(mesh_.size(), 1.0), slope(columns());
  for (std::size_t c = 0; c < resistivity.size(); ++c) {
    conductivity[active_.empty() ? c : active_[c]] = 1 / resistivity[c];
    slope[c] = -1 / resistivity[c];  // of ln σ
  }
  electric::DirectCurrentReport report;
  auto known = unit();
  auto mesh = mesh_;  // copies, for which there may be no room, before others wait
  auto ground = ground_;
  auto electrodes = electrodes_;
  ask(conductivity, true);
  auto made = std::make_shared<electric::Sensitivity>(
      std::move(mesh), conductivity, std::move(ground), std::move(electrodes), parameters_, datum_,
      electric::Unknown::log_conductivity, stream, std::move(known), &report, progress, comm_, at_once_);
  Linearised here{made->data(), nullptr, {}};
  here.jacobian = std::make_shared<Chained>(std::move(made), active_, std::move(slope));
  for (std::size_t n = 0; n < report.solves.size(); ++n)
    if (!report.solves[n].converged())
      here.warnings.push_back(
          fmt::format("electrode {}: {}", report.sources[n] + 1, report.solves[n].text()));
  return here;
}

void MeasuredArrays::convert(const std::vector<double>& factor) {
  factors = factor;
  auto &r = resistance, &rho = resistivity;
  const bool has_resistance = name == "resistance";
  (has_resistance ? r : rho) = values;
  (has_resistance ? rho : r).resize(values.size());
  for (std::size_t n = 0; n < values.size(); ++n)
    (has_resistance ? rho[n] : r[n]) = has_resistance ? factor[n] * r[n] : rho[n] / factor[n];
}

double MeasuredArrays::median_resistivity() const {
  std::vector<double> sorted;
  for (const double value : resistivity)
    if (!std::isnan(value)) sorted.push_back(std::fabs(value));
  if (sorted.empty()) return 1;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double MeasuredArrays::deviation_of(Datum datum, std::size_t n) const {
  if ((datum == Datum::resistance) == (name == "resistance")) return sigma[n];
  return datum == Datum::resistance ? sigma[n] / std::fabs(factors[n]) : sigma[n] * std::fabs(factors[n]);
}

void MeasuredArrays::as(Datum datum, std::vector<double>& data, std::vector<double>& deviation) const {
  data = datum == Datum::resistance ? resistance : resistivity;
  deviation.resize(data.size());
  std::size_t bad = 0, first = 0;
  for (std::size_t n = 0; n < data.size(); ++n) {
    deviation[n] =
        datum == Datum::log_apparent_resistivity ? sigma[n] / std::fabs(values[n]) : deviation_of(datum, n);
    if (datum != Datum::log_apparent_resistivity || std::isnan(data[n])) continue;
    if (!(data[n] > 0) && bad++ == 0) first = n;
    data[n] = std::log(data[n]);
  }
  if (bad > 0)
    throw InputError(
        "survey",
        fmt::format("{} of {} apparent resistivities are not above zero (first: array {})", bad, data.size(),
                    first + 1),
        "Leave them out (swapped electrodes?), or set inversion.datum = \"apparent_resistivity\".");
}

void MeasuredArrays::from(Datum datum, const std::vector<double>& factor, std::vector<double> predicted) {
  if (datum == Datum::log_apparent_resistivity)
    for (double& value : predicted) value = std::exp(value);
  name = datum == Datum::resistance ? "resistance" : "apparent_resistivity";
  values = std::move(predicted);
  convert(factor);
}

}  // namespace terrane::inversion
