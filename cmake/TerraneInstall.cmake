# cmake --install: the libraries, their headers, the terrane command, and a package for find_package(terrane).
