// The inversion that a physics declares, and the list of all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/inversion/job/services.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// An example of an inversion, with the job that computes its data: `terrane new inversion --of NAME`.
struct ExampleJob {
  std::string_view name;   ///< "electric"
  std::string_view job;    ///< text of the inversion's job, with comments; the job reads data
  std::string_view truth;  ///< text of the job that computes the data of `job` into the same folder
  std::string_view data;   ///< name of the data file that the job `truth` writes: "line.ohm"
};

/// The inversion for one physics, declared in the physics' folder inverse/ (docs/workshop/new_physics.md).
struct Inverse {
  Physics job;       ///< the inversion as a Physics, whose simulations are inversions
  std::string data;  ///< description of the data that are inverted: "gravity and its gradients"
  /// The tables that the reference page of all inversions lists: [simulation], and those that only this
  /// inversion has.
  std::vector<Section> on_page = {};
  std::vector<Service> services = {};  ///< work that ranks other than 0 do
  std::vector<ExampleJob> examples = {};
};

class Inverses {
 public:
  void add(Inverse one);
  /// Declares a physics that this program was built without.
  void leave_out(std::string name) { registry_.leave_out(std::move(name)); }

  /// The inversions by which `terrane invert` reads jobs.
  const Registry& registry() const noexcept { return registry_; }
  /// All inversions as one Physics named "inversion", for the template, the reference, and the ranks other
  /// than 0; it must not be used after this object is destroyed. It has no tables if there are no inversions.
  Physics job() const;
  std::span<const ExampleJob> examples() const noexcept { return examples_; }

 private:
  Registry registry_;
  std::string data_, summary_;
  std::vector<Section> on_page_;
  std::vector<Service> services_;
  std::vector<ExampleJob> examples_;
};

/// Whether a job asks for an inversion.
bool asks_for_inversion(const Config& job);

}  // namespace terrane::inversion
