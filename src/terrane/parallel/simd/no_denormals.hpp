// Numbers below the range of a floating-point type, on CPUs.
#pragma once

namespace terrane {

/// While an object of this class exists, the thread's CPU treats denormal numbers as zero: fields ahead of a
/// wave and deep in layers are full of them, and many CPUs take a hundred times as long for each. All of it
/// is inlined, so that no instruction set's copy takes another's place.
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
