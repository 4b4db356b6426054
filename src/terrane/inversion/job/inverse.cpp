#include "terrane/inversion/job/inverse.hpp"

#include <algorithm>
#include <iterator>

namespace terrane::inversion {

void Inverses::add(Inverse one) {
  registry_.add(std::move(one.job));
  data_ += (data_.empty() ? "" : ", ") + one.data;
  summary_ = "A model from " + data_ + ".";
  on_page_.insert(on_page_.end(), one.on_page.begin(), one.on_page.end());
  services_.insert(services_.end(), one.services.begin(), one.services.end());
  examples_.insert(examples_.end(), one.examples.begin(), one.examples.end());
}

Physics Inverses::job() const {
  const auto all = registry_.all();
  const auto usual =
      std::find_if(all.begin(), all.end(), [](const Physics& p) { return p.name == unnamed_physics; });
  Physics job;
  if (!all.empty()) job = usual != all.end() ? *usual : all.front();
  job.name = "inversion";
  job.summary = summary_;
  job.serve = [services = services_](Comm& comm) { serve(services, comm); };
  const auto place = [&](std::string_view path) {
    return std::find_if(job.sections.begin(), job.sections.end(),
                        [&](const Section& section) { return section.path == path; });
  };
  const auto simulation = [](const Section& section) { return section.path == "simulation"; };
  std::vector<Section> keys, tables;  // keys of [simulation], and other tables
  std::partition_copy(on_page_.begin(), on_page_.end(), std::back_inserter(keys), std::back_inserter(tables),
                      simulation);
  if (const auto at = place("simulation"); at != job.sections.end())
    job.sections.insert(at + 1, keys.begin(), keys.end());
  job.sections.insert(place("inversion"), tables.begin(), tables.end());
  return job;
}

bool asks_for_inversion(const Config& job) { return job.has("inversion"); }

}  // namespace terrane::inversion
