#include "terrane/physics/gravity/inverse/inverse.hpp"

#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/gravity/inverse/examples.hpp"
#include "terrane/physics/gravity/inverse/job.hpp"
#include "terrane/physics/gravity/inverse/operators.hpp"

namespace terrane::gravity::inverse {

namespace {

constexpr Key keys_of_gravity[] = {
    {"physics", "text", "\"gravity\"", "Which data are inverted: gravity or magnetic.", "\"gravity\""},
    {"channels", "list of names", "[]", "Observed channels to invert; by default all."},
    {"frame", "text", "\"enu\"",
     "Names, axes and signs of data and output: enu, harmonica, simpeg, ubc, tomofast."},
    {"units", "text", "\"geo\"", "Of data and output: geo (mGal, E) or si."},
    {"gravitational_constant", "number", "6.67430e-11", "G in m3/(kg s2)."},
    {"singular", "text", "\"nan\"",
     "Gradients and magnetic fields at stations on faces of cells: nan refuses such stations, mean, outside "
     "or "
     "inside takes that limit."},
};

FieldKind kind_of(const Config& simulation, const Survey&) {
  const double constant = simulation.positive("gravitational_constant");
  return {conventions(), "density", [constant](std::string_view channel, std::size_t) {
            return std::vector{Observable::of(channel_from_name(channel), constant)};
          }};
}

}  // namespace

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = job_at_stations("gravity", "Densities from gravity and its gradients.",
                             {"inversion of gravity", keys_of_gravity, kind_of});
  made.data = "gravity and its gradients";
  made.examples = {example};
  made.services = {shares_of_products()};
  return made;
}

}  // namespace terrane::gravity::inverse
