// In place of the room inversion where a physics that it uses is left out of the build (TERRANE_PHYSICS).
#include "terrane/base/error.hpp"
#include "terrane/inversion/job.hpp"
#include "terrane/inversion/joint_job.hpp"
#include "terrane/inversion/ubc_control.hpp"

namespace terrane::inversion {

namespace {
constexpr const char* reason = "this program was built without inversion";
constexpr const char* remedy = "Build all physics (make build).";
}  // namespace

const Registry& inversions() {
  static const Registry none = [] {
    Registry registry;
    registry.built_without("inversion");
    return registry;
  }();
  return none;
}

const Physics& job_of_inversions() {
  static const Physics none = [] {
    Physics physics;
    physics.name = "inversion";
    physics.make = [](const Config& job, const Runtime&) -> std::unique_ptr<Simulation> {
      throw UnsupportedError(job.where(), reason, remedy);
    };
    return physics;
  }();
  return none;
}

bool asks_for_inversion(const Config& job) {
  if (job.has("inversion")) throw UnsupportedError(job.table("inversion").where(), reason, remedy);
  return false;
}

bool asks_for_joint(const Config&) { return false; }  // asks_for_inversion() has refused it

void join(const std::vector<Member>&, std::optional<double>) {
  throw UnsupportedError("joint", reason, remedy);
}

std::string job_of_ubc_control(const std::vector<std::string>&, const std::filesystem::path&) {
  throw UnsupportedError("--from", reason, remedy);
}

}  // namespace terrane::inversion
