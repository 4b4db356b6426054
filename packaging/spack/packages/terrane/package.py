# Spack: spack repo add packaging/spack && spack install terrane
# A working copy instead of a release: spack dev-build terrane@main
from spack.package import *

try:  # recipes are a repository of their own since Spack 1.0
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass


class Terrane(CMakePackage, CudaPackage):
    """One earth model in, every field out: gravity, magnetics, direct current, electromagnetics, acoustic and elastic
    waves, heat, and inversions, from a job file or from C++."""

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Run on several ranks")
    variant("nccl", default=False, when="+cuda+mpi", description="Large arrays between ranks through their GPUs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt")
    depends_on("tomlplusplus")
    depends_on("cli11@2:")
    depends_on("netcdf-c")
    depends_on("hdf5@1.10:")
    depends_on("fftw@3:")
    depends_on("proj@8:")
    depends_on("zlib-api")
    depends_on("xz")
    depends_on("libtiff@4.5:")
    depends_on("mpi", when="+mpi")
    depends_on("nccl", when="+nccl")

    conflicts("%gcc@:11", msg="Terrane is C++20: GCC 12 or later")
    conflicts("%clang@:13", msg="Terrane is C++20: Clang 14 or later")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=80, 90, ...")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("TERRANE_BUILD_TESTS", self.run_tests),
            self.define("TERRANE_KERNELS", "ALL"),
            self.define_from_variant("TERRANE_MPI", "mpi"),
            self.define_from_variant("TERRANE_NCCL", "nccl"),
            self.define_from_variant("TERRANE_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+cuda"):
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return arguments
