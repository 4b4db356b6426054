// What a physics offers to inversions, and the list of all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/inversion/job/services.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// An inversion to start from, with what its data are made of: `terrane new inversion --of NAME`.
struct ExampleJob {
  std::string_view name;   ///< "electric"
  std::string_view job;    ///< with comments; reads data
  std::string_view truth;  ///< a job that computes them into the same folder
  std::string_view data;   ///< a file that truth writes: "line.ohm"
};

/// The inverse of one physics: its folder inverse/ declares it (docs/workshop/new_physics.md).
struct Inverse {
  Physics job;       ///< as a physics whose simulations are inversions
  std::string data;  ///< from which data models are found, for people: "gravity and its gradients"
  /// What the page of all inversions has of it: tables [simulation], and others of its own.
  std::vector<Section> on_page = {};
  std::vector<Service> services = {};  ///< what ranks other than 0 do
  std::vector<ExampleJob> examples = {};
};

class Inverses {
 public:
  void add(Inverse one);
  /// A physics that this program was built without.
  void leave_out(std::string name) { registry_.leave_out(std::move(name)); }

  /// What `terrane invert` reads jobs with.
  const Registry& registry() const noexcept { return registry_; }
  /// All as one of the name "inversion", which must not outlive them: for the template, the reference, and
  /// the ranks other than 0. Without tables where there is none.
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
