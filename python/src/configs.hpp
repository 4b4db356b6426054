// Jobs as the bindings get them: a path, or a text whose files are in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "module.hpp"
#include "terrane/base/error.hpp"
#include "terrane/job/config.hpp"
#include "terrane/job/contents.hpp"
#include "terrane/physics/all.hpp"

namespace terrane::python {

using Sets = std::vector<std::string>;
using Arguments = std::map<std::string, std::string>;

/// Of the text of a job, whose files are in `contents` by name.
inline Config config_of(const std::string& text, const Sets& sets, const Arguments& arguments,
                        const nb::dict& contents) {
  auto given = std::make_shared<Contents>();
  for (const auto& [name, content] : contents)
    given->of[nb::cast<std::string>(name)] = content_of(nb::cast<nb::dict>(content));
  const nb::gil_scoped_release free;
  return Config::parse(text, "job", "", {sets, arguments, given});
}

/// take(simulation, runtime) of a job, which must be one of this physics. what: it, in words.
template <class Simulation, class Take>
auto of_config(const Config& config, const std::string& name, const std::string& physics,
               const std::string& what, const Take& take) {
  const auto job = physics::all().make(config);
  const auto* simulation = dynamic_cast<const Simulation*>(job.simulation.get());
  if (simulation == nullptr)
    throw InputError(name, "it is not a job of " + what,
                     "It needs simulation.physics = \"" + physics + "\".");
  auto runtime = job.runtime;
  runtime.checkpoint = {};
  return take(*simulation, runtime);
}

}  // namespace terrane::python
