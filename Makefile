# The front door. Everything here works on a fresh Debian 12 or Ubuntu 24.04: what is missing is installed first.
# CXX, CXXFLAGS and LDFLAGS of the environment are respected; JOBS=N sets how many compilers run at once.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build demo tour test test-long bench format check-format docs install wheel clean

help:  ## this list
	@echo "Terrane: one earth model in, every field out"
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r verb what; do \
	  printf '%-20s %s\n' "$$verb" "$$what"; done

build:  ## the terrane command, in build/release
	@tools/build release terrane_command

demo:  ## compute the field of seven buried spheres and draw it
	@tools/demo

tour:  ## run seven simulations of one earth and draw a picture of all
	@tools/tour

test:  ## build and run all tests, except the long ones
	@tools/test

test-long:  ## build and run the tests that take minutes to hours
	@tools/test long

bench:  ## run the benchmarks and record them in benchmarks/records
	@tools/bench

format:  ## put all C++ into the project's format
	@tools/format

check-format:  ## see whether all C++ is in the project's format
	@tools/format --check

docs:  ## build the documentation into build/docs/site
	@tools/docs

install:  ## install below PREFIX (default /usr/local), for all CPUs of this kind
	@TERRANE_CMAKE_FLAGS="-DTERRANE_KERNELS=ALL -DTERRANE_QUICK_CUDA=OFF $$TERRANE_CMAKE_FLAGS" \
	  tools/build release terrane_command
	@cmake --install build/release --prefix "$(or $(PREFIX),/usr/local)"

wheel:  ## build a wheel for machines without a compiler into dist, and try it in a bare environment
	@tools/wheel

clean:  ## remove everything that was built
	rm -rf build
