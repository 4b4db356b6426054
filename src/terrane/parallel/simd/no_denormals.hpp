// Treats denormal floating-point numbers as zero on CPUs.
#pragma once

namespace terrane {

/// While an object of this class exists, the thread's CPU treats denormal numbers as zero: fields ahead of a
/// wavefront and deep in absorbing layers are full of them, and many CPUs take a hundred times as long for
/// each. All functions are inlined, so that the linker cannot merge copies compiled for different instruction
/// sets.
class NoDenormals {
 public:
#if defined(__SSE__)
  [[gnu::always_inline]] NoDenormals() : before_(__builtin_ia32_stmxcsr()) {
    __builtin_ia32_ldmxcsr(before_ | 0x8040U);
  }
  [[gnu::always_inline]] ~NoDenormals() { __builtin_ia32_ldmxcsr(before_); }
#else
  NoDenormals() = default;
  ~NoDenormals() {}
#endif
  NoDenormals(const NoDenormals&) = delete;
  NoDenormals& operator=(const NoDenormals&) = delete;

 private:
  unsigned before_ = 0;
};

}  // namespace terrane
