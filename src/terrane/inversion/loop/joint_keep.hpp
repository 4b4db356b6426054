// All that is known of a model that was found, as lists and words of a checkpoint.
#pragma once

#include <string>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

/// name: where the lists' names begin.
void keep_outcome(const Outcome& outcome, const std::string& name, Standing& standing);
/// word: the first of its words; set to the one after its last. Throws InputError, as refuse_checkpoint()
/// does.
Outcome kept_outcome(const Standing& standing, const std::string& name, std::size_t& word);

}  // namespace terrane::inversion
