#include "terrane/io/library_lock.hpp"

#include <hdf5.h>
#include <pthread.h>

#include <mutex>
#include <utility>

namespace terrane::io {

namespace {

/// The lock of the process, and the LibraryGate around it. Never destroyed, because threads may still read
/// files while the process ends.
struct Door {
  std::mutex mutex;
  std::mutex naming;  ///< protects `gate`
  std::shared_ptr<const LibraryGate> gate = std::make_shared<LibraryGate>();

  Door() {
    pthread_atfork([] { std::lock(door().mutex, door().naming); }, open, open);
  }
  static Door& door() {
    static Door& one = *new Door;
    return one;
  }

 private:
  static void open() {
    door().naming.unlock();
    door().mutex.unlock();
  }
};

}  // namespace

LibraryLock::LibraryLock() {
  auto& door = Door::door();
  {
    const std::lock_guard lock(door.naming);
    gate_ = door.gate;
  }
  if (gate_->enter) gate_->enter();
  door.mutex.lock();
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryLock::~LibraryLock() {
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
  Door::door().mutex.unlock();
  if (gate_->leave) gate_->leave();
}

void set_library_gate(LibraryGate gate) {
  auto& door = Door::door();
  const std::lock_guard lock(door.naming);
  door.gate = std::make_shared<LibraryGate>(std::move(gate));
}

}  // namespace terrane::io
