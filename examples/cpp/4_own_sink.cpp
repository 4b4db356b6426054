// Step 4: results that go where you want them. A sink takes a data set piece by piece; this one keeps no
// values, only the largest magnitude of each variable.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <terrane/data/sink.hpp>
#include <terrane/physics/all.hpp>
#include <terrane/simulation/write_result.hpp>

namespace {

class Peaks : public terrane::Sink {
 public:
  std::map<std::string, double> largest;

 protected:
  void do_define(const terrane::Dataset& header) override {
    for (const auto& variable : header.variables) largest[variable.name] = 0;
  }
  void do_put(const terrane::Variable& variable, const terrane::Slab&,
              const terrane::ValueSpan& values) override {
    auto& most = largest[variable.name];
    std::visit(
        [&](const auto& all) {
          for (const auto& value : all)
            if constexpr (requires { std::abs(value); })
              most = std::max(most, static_cast<double>(std::abs(value)));
        },
        values);
  }
  void do_finish() override {}
};

constexpr const char* job_text = R"(
[mesh]
box = [0, 1000, 0, 10, -600, 0]
shape = [100, 1, 60]
[[model.body]]
kind = "layer"
bottom = -1e6
top = 0
velocity_p = 2000
[survey]
kind = "list"
stations = [[600, 5, -20], [800, 5, -20]]
[source]
at = [[200, 5, -100]]
frequency = 20
[simulation]
physics = "acoustic"
end = 0.5
)";

}  // namespace

int main() {
  const auto config = terrane::Config::parse(job_text, "a job in the program");
  const auto job = terrane::physics::all().make(config);
  const auto result = job.run(job.runtime);
  Peaks peaks;
  terrane::write(terrane::to_dataset(result), peaks);
  for (const auto& [name, largest] : peaks.largest) std::printf("%-12s at most %g\n", name.c_str(), largest);
  return peaks.largest.at("pressure") > 0 ? 0 : 1;
}
