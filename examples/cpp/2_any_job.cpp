// Step 2: any job, of any physics, as `terrane run` does it: read, check, run, write.
#include <cstdio>
#include <terrane/base/error.hpp>
#include <terrane/physics/all.hpp>
#include <terrane/simulation/write_result.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s JOB RESULT   (a job file; .nc, .csv, ...)\n", argv[0]);
    return 2;
  }
  try {
    const auto config = terrane::Config::read(argv[1]);
    const auto job = terrane::physics::all().make(config);
    const auto plan = job.check(job.runtime);  // what it will take; throws what is wrong with the job
    for (const auto& warning : plan.warnings) std::printf("warning: %s\n", warning.c_str());
    const auto result = job.run(job.runtime);
    terrane::write_result(argv[2], result);
    std::printf("%s", result.report.text().c_str());
  } catch (const terrane::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
