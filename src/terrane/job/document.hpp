// Documentation of the job file from the lists of keys that also read it: a template to start from, and the
// reference.
#pragma once

#include <map>
#include <span>
#include <string>

#include "terrane/job/config.hpp"

namespace terrane {

/// A commented job file that runs.  kinds: which kind of each table to show ("mesh" → "regular"); keys with
/// an example are set, the others stand as comments with their defaults. examples: in place of the keys' own
/// ("mesh.shape" → "[40, 40, 20]"); an empty one leaves the key out.
std::string job_template(std::span<const Section> sections, const std::map<std::string, std::string>& kinds,
                         const std::string& heading, const std::map<std::string, std::string>& examples = {});

/// The reference of all tables and keys of one physics, in Markdown. Sections of one path and no kind that
/// follow each other are one table.  general: those that stand on the page of general tables, to which this
/// page leads
std::string job_reference(std::string_view physics, std::string_view summary,
                          std::span<const Section> sections, std::span<const Section> general = {});

/// The page of general tables. Properties of rock, which many tables may hold, stand there once.
std::string general_reference(std::span<const Section> general);

/// Whether a list of tables has this one.
bool has_section(std::span<const Section> list, const Section& section);

}  // namespace terrane
