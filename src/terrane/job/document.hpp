// Writes a commented job template and the reference pages, from the same lists of keys with which jobs are
// read.
#pragma once

#include <map>
#include <span>
#include <string>

#include "terrane/job/config.hpp"

namespace terrane {

/// A commented job file that runs. kinds: the kind of each table to show ("mesh" → "regular"). Keys with an
/// example are set; the others are commented out, with their defaults. examples: values that replace the
/// keys' own examples ("mesh.shape" → "[40, 40, 20]"); an empty one leaves the key out.
std::string job_template(std::span<const Section> sections, const std::map<std::string, std::string>& kinds,
                         const std::string& heading, const std::map<std::string, std::string>& examples = {});

/// The reference of all tables and keys of one physics, in Markdown. Consecutive sections that have the same
/// path and no kind are shown as one table. general: sections described on the page of general tables; this
/// page links to them
std::string job_reference(std::string_view physics, std::string_view summary,
                          std::span<const Section> sections, std::span<const Section> general = {});

/// The page of general tables. The properties of rock, which many tables may have, are described on it once.
std::string general_reference(std::span<const Section> general);

/// Whether `list` has a section with the path and kind of `section`.
bool has_section(std::span<const Section> list, const Section& section);

}  // namespace terrane
