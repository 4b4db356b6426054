// How long work reports where it is, and learns that the user wants it to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace terrane {

/// Long work calls start, advance from any thread, and finish; it asks cancelled() between tasks and then
/// throws Cancelled. The base class does nothing and never cancels.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void start(std::string_view /*what*/, std::uint64_t /*total*/) {}
  virtual void advance(std::uint64_t /*amount*/) {}
  virtual void finish() {}
  virtual bool cancelled() const { return false; }
};

/// A bar with time left on stderr when that is a terminal, silent otherwise. Ctrl-C sets cancelled();
/// a second Ctrl-C ends the process. The handler is installed for the life of the object.
std::unique_ptr<Progress> terminal_progress();

}  // namespace terrane
