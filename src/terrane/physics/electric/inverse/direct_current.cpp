#include "terrane/physics/electric/inverse/direct_current.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/job/fields.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electric::inverse {

DirectCurrent::DirectCurrent(TensorMesh mesh, std::vector<std::uint32_t> active, std::vector<double> ground,
                             Electrodes electrodes, const Parameters& parameters, Datum datum, Device device,
                             int threads, Comm* comm, std::shared_ptr<solve::Workers> workers, int at_once,
                             std::vector<double> slopes)
    : mesh_(std::move(mesh)),
      active_(std::move(active)),
      ground_(std::move(ground)),
      electrodes_(std::move(electrodes)),
      parameters_(parameters),
      datum_(datum),
      threads_(threads),
      device_(device),
      comm_(comm && comm->size() > 1 ? comm : nullptr),
      workers_(std::move(workers)),
      at_once_(at_once),
      slopes_(std::move(slopes)) {}

namespace {

constexpr const char* service_of_shares = "electric: shares of currents";
constexpr const char* service_of_unit = "electric: unit currents";

/// The input from which all ranks compute, each its share.
struct Asked {
  TensorMesh mesh;
  Medium medium;
  Electrodes electrodes;
  Parameters parameters;
  Datum datum;
  Device device;
  int threads, at_once;
};

Asked unpacked(Packet& packet) {
  Asked asked;
  const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
             up = packet.get_vector<double>();
  asked.mesh = TensorMesh(easting, northing, up);
  asked.medium.conductivity = packet.get_vector<double>();
  asked.medium.ground = packet.get_vector<double>();
  asked.medium.slopes = packet.get_vector<double>();
  asked.electrodes.place = packet.get_vector<Point>();
  asked.electrodes.arrays = packet.get_vector<Array>();
  asked.parameters = get_fields<Parameters>(packet);
  asked.datum = packet.get<Datum>();
  asked.device = packet.get<Device>();
  asked.threads = packet.get<int>();
  asked.at_once = packet.get<int>();
  return asked;
}

std::shared_ptr<Sensitivity> sensitivity_of(TensorMesh mesh, const Medium& medium, Electrodes electrodes,
                                            const Parameters& parameters, Datum datum, Stream& stream,
                                            std::vector<double> unit, DirectCurrentReport* report,
                                            Progress* progress, Comm* comm, int at_once) {
  return std::make_shared<Sensitivity>(std::move(mesh), medium, std::move(electrodes), parameters, datum,
                                       Unknown::log_conductivity, stream, std::move(unit), report, progress,
                                       comm, at_once);
}

/// Collective: makes a stream on each rank; if one fails, all ranks throw.
std::unique_ptr<Stream> stream_of_rank(Device device, int threads, Comm& comm) {
  std::unique_ptr<Stream> made;
  together(comm, [&] { made = std::make_unique<Stream>(device_of_rank(device, comm), false, threads); });
  return made;
}

}  // namespace

/// The message that the other ranks, which are in serve(), need to set up their share. It is packed before
/// they are called, because they would wait forever if rank 0 ran out of memory.
Packet DirectCurrent::request(const char* service, const std::vector<double>& conductivity) const {
  Packet packet;
  packet.put(std::string(service));
  for (const auto* faces : {&mesh_.easting(), &mesh_.northing(), &mesh_.up()}) packet.put(*faces);
  packet.put(conductivity);
  packet.put(ground_);
  packet.put(slopes_);
  packet.put(electrodes_.place);
  packet.put(electrodes_.arrays);
  put_fields(parameters_, packet);
  packet.put(datum_);
  packet.put(device_for_ranks(device_, *comm_));
  packet.put(threads_);
  packet.put(at_once_);
  return packet;
}

namespace {

void serve_unit_currents(Packet packet, Comm& comm) {
  serve_in_step(comm, [&] {
    auto asked = unpacked(packet);
    auto stream = stream_of_rank(asked.device, asked.threads, comm);
    unit_transfers(asked.mesh, asked.medium.ground, asked.electrodes, asked.parameters, *stream, &comm,
                   asked.at_once, asked.medium.slopes);
  });
}

std::shared_ptr<const solve::PartedOperator> share_of_currents(Packet packet, Comm& comm) {
  std::shared_ptr<const solve::PartedOperator> own;
  const bool made = serve_in_step(comm, [&] {
    auto asked = unpacked(packet);
    packet = {};
    auto stream = stream_of_rank(asked.device, asked.threads, comm);
    own = sensitivity_of(std::move(asked.mesh), asked.medium, std::move(asked.electrodes), asked.parameters,
                         asked.datum, *stream, {}, nullptr, nullptr, &comm, asked.at_once);
  });
  return made ? own : nullptr;
}

}  // namespace

std::vector<inversion::Service> services_of_currents() {
  return {{service_of_shares, share_of_currents}, {service_of_unit, {}, serve_unit_currents}};
}

const std::vector<double>& DirectCurrent::unit() const {
  if (!unit_.empty()) return unit_;
  Alone alone;
  Comm& comm = comm_ ? *comm_ : alone;
  if (comm_) {
    auto packet = request(service_of_unit, {});
    inversion::call_for_work(comm, workers_);
    packet.broadcast(comm);
  }
  keep_in_step(comm, [&] {
    auto stream = stream_of_rank(device_, threads_, comm);
    unit_ = unit_transfers(mesh_, ground_, electrodes_, parameters_, *stream, comm_, at_once_, slopes_);
  });
  return unit_;
}

inversion::Linearised DirectCurrent::at(std::span<const double> resistivity, Progress* progress) const {
  Medium medium;
  medium.conductivity.assign(mesh_.size(), 1.0);
  medium.ground = ground_;
  medium.slopes = slopes_;
  std::vector<double> slope(columns());
  for (std::size_t c = 0; c < resistivity.size(); ++c) {
    medium.conductivity[active_.empty() ? c : active_[c]] = 1 / resistivity[c];
    slope[c] = -1 / resistivity[c];  // d ln σ/dρ
  }
  DirectCurrentReport report;
  auto known = unit();
  auto mesh = mesh_;  // copied before other ranks wait, because this rank may have too little memory
  auto electrodes = electrodes_;
  Alone alone;
  Comm& comm = comm_ ? *comm_ : alone;
  if (comm_) {
    auto packet = request(service_of_shares, medium.conductivity);
    if (workers_ && !workers_->serves()) workers_ = nullptr;
    inversion::call_for_shares(comm, workers_, std::move(packet));
  }
  std::shared_ptr<const Sensitivity> made;
  keep_in_step(comm, [&] {
    auto stream = stream_of_rank(device_, threads_, comm);
    made = sensitivity_of(std::move(mesh), medium, std::move(electrodes), parameters_, datum_, *stream,
                          std::move(known), &report, progress, comm_, at_once_);
  });
  inversion::Linearised here{made->data(), nullptr, {}};
  std::shared_ptr<const solve::LinearOperator> all = made;
  if (comm_) all = std::make_shared<solve::SharedOperator>(workers_, std::move(made));
  here.jacobian = std::make_shared<inversion::Chained>(std::move(all), active_, std::move(slope));
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
    throw InputError("survey",
                     fmt::format("{} of {} apparent resistivities are not above zero (first: array {})", bad,
                                 data.size(), first + 1),
                     "Leave them out (inversion.leave_out = \"unusable\"; swapped electrodes?), or set "
                     "inversion.datum = \"apparent_resistivity\".");
}

void MeasuredArrays::from(Datum datum, const std::vector<double>& factor, std::vector<double> predicted) {
  if (datum == Datum::log_apparent_resistivity)
    for (double& value : predicted) value = std::exp(value);
  name = datum == Datum::resistance ? "resistance" : "apparent_resistivity";
  values = std::move(predicted);
  convert(factor);
}

}  // namespace terrane::electric::inverse
