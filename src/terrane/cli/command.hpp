// The terrane command: what its words mean and which status it ends with.
#pragma once

namespace terrane::cli {

/// Exit status: 0 done, 1 the run failed, 2 the command or its input cannot be used, 130 interrupted.
int command(int argc, const char* const* argv);

}  // namespace terrane::cli
