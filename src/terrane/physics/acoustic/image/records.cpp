#include "terrane/physics/acoustic/image/records.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/spool.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/pinned.hpp"

namespace terrane::acoustic {

namespace {

constexpr const char* elsewhere =
    "Give simulation.scratch a folder on a larger disk, or take wavefield = \"checkpoints\" without kept_in.";

class InMemory final : public Records {
 public:
  InMemory(Stream& stream, const RecordsWanted& wanted)
      : bytes_(wanted.bytes), all_(stream.device(), wanted.bytes * static_cast<std::size_t>(wanted.count)) {}
  std::byte* room(Stream&, Index n) override { return at(n); }
  void put(Stream&, Index) override {}
  const std::byte* get(Stream&, Index n) override { return at(n); }

 private:
  std::byte* at(Index n) { return all_.view().data + static_cast<std::size_t>(n) * bytes_; }
  std::size_t bytes_;
  Buffer<std::byte> all_;
};

/// A ring of slots on the device, through which records are copied to and from the host, and the stream of
/// these copies.
class Ring {
 public:
  Ring(Device device, std::size_t bytes)
      : bytes_(bytes), memory_(device, slots * bytes), copies_(device), asked_(device) {
    for (std::size_t n = 0; n < slots; ++n) {
      filled_.emplace_back(device);
      moved_.emplace_back(device);
    }
    held_.fill(-1);
  }
  bool has(Index n) const { return held_[slot(n)] == n; }
  Event& moved(Index n) { return moved_[slot(n)]; }
  std::byte* at(Index n) { return memory_.view().data + slot(n) * bytes_; }

  std::byte* room(Stream& stream, Index n) {
    if (n == 0) held_.fill(-1);
    stream.wait_for(moved(n));
    return at(n);
  }
  void to_host(Stream& stream, Index n, std::span<std::byte> to) {
    filled_[slot(n)].record(stream);
    copies_.wait_for(filled_[slot(n)]);
    memory_.download_async(copies_, to, slot(n) * bytes_);
    moved(n).record(copies_);
    held_[slot(n)] = n;
  }
  /// Makes copies wait for work already begun on `stream`, which may read the slots that from_host() fills.
  void let_finish(Stream& stream) {
    asked_.record(stream);
    copies_.wait_for(asked_);
  }
  void from_host(Index n, std::span<const std::byte> from) {
    memory_.upload_async(copies_, from, slot(n) * bytes_);
    moved(n).record(copies_);
    held_[slot(n)] = n;
  }
  void wait() { copies_.wait(); }

  static std::size_t slot(Index n) { return static_cast<std::size_t>(n) % slots; }
  /// Number of records that are copied ahead of the requested one, into slots that are free by then.
  static constexpr Index ahead = Records::slots_of_ring - Records::in_use;

 private:
  static constexpr auto slots = static_cast<std::size_t>(Records::slots_of_ring);
  std::size_t bytes_;
  Buffer<std::byte> memory_;
  Stream copies_;
  Event asked_;
  std::deque<Event> filled_, moved_;
  std::array<Index, slots> held_{};
};

class OnHost final : public Records {
 public:
  OnHost(Stream& stream, const RecordsWanted& wanted)
      : bytes_(wanted.bytes),
        all_(stream.device(), wanted.bytes * static_cast<std::size_t>(wanted.count)),
        ring_(stream.device(), wanted.bytes) {}
  std::byte* room(Stream& stream, Index n) override { return ring_.room(stream, n); }
  void put(Stream& stream, Index n) override { ring_.to_host(stream, n, record(n)); }
  const std::byte* get(Stream& stream, Index n) override {
    ring_.let_finish(stream);
    for (Index m = n; m >= std::max<Index>(0, n - Ring::ahead); --m)
      if (!ring_.has(m)) ring_.from_host(m, record(m));
    stream.wait_for(ring_.moved(n));
    return ring_.at(n);
  }

 private:
  std::span<std::byte> record(Index n) {
    return all_.span().subspan(static_cast<std::size_t>(n) * bytes_, bytes_);
  }
  std::size_t bytes_;
  PinnedBuffer<std::byte> all_;
  Ring ring_;
};

class OnDisk final : public Records {
 public:
  OnDisk(Stream& stream, const RecordsWanted& wanted)
      : bytes_(wanted.bytes),
        count_(wanted.count),
        file_(fmt::format("{}/terrane-{}.waves", scratch_folder(wanted.folder), getpid()),
              static_cast<std::size_t>(wanted.count), wanted.bytes, {"the waves of a shot", elsewhere}),
        staged_(stream.device(), wanted.bytes * static_cast<std::size_t>(slots_of_ring)),
        ring_(stream.device(), wanted.bytes),
        worker_([this] { work(); }) {}
  ~OnDisk() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
    try {
      ring_.wait();
    } catch (...) {  // an earlier call has thrown this error already
    }
  }

  std::byte* room(Stream& stream, Index n) override {
    if (n == 0) {
      wait_until([&] { return jobs_.empty() && !busy_; });
      written_ = 0, wanted_ = read_ = count_;
    }
    return ring_.room(stream, n);
  }
  void put(Stream& stream, Index n) override {
    wait_until([&] { return written_ > n - slots_of_ring; });
    ring_.to_host(stream, n, staged(n));
    begin({n, true});
  }
  const std::byte* get(Stream& stream, Index n) override {
    ring_.let_finish(stream);
    for (Index m = std::min(wanted_ - 1, n); m >= std::max<Index>(0, n - Ring::ahead); --m) {
      wanted_ = m;
      if (!ring_.has(m)) begin({m, false});
    }
    if (!ring_.has(n)) wait_until([&] { return read_ <= n; });
    for (Index m = n; m >= std::max<Index>(0, n - 1); --m)
      if (!ring_.has(m) && is_read(m)) ring_.from_host(m, staged(m));
    stream.wait_for(ring_.moved(n));
    return ring_.at(n);
  }

 private:
  struct Job {
    Index record;
    bool write;
  };
  std::span<std::byte> staged(Index n) { return staged_.span().subspan(Ring::slot(n) * bytes_, bytes_); }
  bool is_read(Index n) {
    const std::lock_guard lock(mutex_);
    return read_ <= n;
  }
  template <class Condition>
  void wait_until(const Condition& reached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || reached(); });
    if (error_) std::rethrow_exception(error_);
  }
  void begin(Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (error_) std::rethrow_exception(error_);
      jobs_.push_back(job);
    }
    changed_.notify_all();
  }
  void work() {
    for (;;) {
      Job job{};
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
        if (stop_) return;
        job = jobs_.front();
        jobs_.pop_front();
        busy_ = true;
      }
      std::exception_ptr error;
      try {
        ring_.moved(job.record).wait();  // waits for the copy to or from this record's staging memory
        const auto record = static_cast<std::size_t>(job.record);
        if (job.write) file_.put(record, staged(job.record));
        else file_.get(record, staged(job.record));
      } catch (...) {
        error = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        busy_ = false;
        if (error && !error_) error_ = error;
        if (job.write) written_ = job.record + 1;
        else read_ = job.record;
      }
      changed_.notify_all();
    }
  }

  std::size_t bytes_;
  Index count_;
  io::Spool file_;
  PinnedBuffer<std::byte> staged_;
  Ring ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stop_ = false, busy_ = false;
  std::exception_ptr error_;
  Index written_ = 0, read_ = 0;  ///< number of records written; index of the record read last
  Index wanted_ = 0;              ///< index of the record requested last by the calling thread
  std::thread worker_;            ///< declared last, because the thread uses the other members
};

}  // namespace

std::unique_ptr<Records> make_records(Stream& stream, const RecordsWanted& wanted) {
  if (wanted.place == KeptIn::disk && wanted.bytes > 0) return std::make_unique<OnDisk>(stream, wanted);
  if (wanted.place == KeptIn::host && stream.device().has_own_memory() && wanted.bytes > 0)
    return std::make_unique<OnHost>(stream, wanted);
  return std::make_unique<InMemory>(stream, wanted);
}

std::string scratch_folder(const std::string& wanted) {
  std::error_code error;
  const auto folder = wanted.empty() ? std::filesystem::temp_directory_path(error).string() : wanted;
  if (error || !std::filesystem::is_directory(folder, error))
    throw FileError(folder, "there is no such folder", "simulation.scratch is a folder on a disk with room.");
  return folder;
}

double free_on_disk(const std::string& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) throw FileError(folder, error.message(), elsewhere);
  return static_cast<double>(space.available);
}

bool lies_in_memory(const std::string& folder) {
  struct statfs about {};
  return statfs(folder.c_str(), &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

}  // namespace terrane::acoustic
