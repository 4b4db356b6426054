// The one annotation of formulas and kernels: callable on the host and, under nvcc, on the device.
#pragma once

#if defined(__CUDACC__)
#define TERRANE_FN __host__ __device__ __forceinline__
#else
#define TERRANE_FN inline __attribute__((always_inline))
#endif
