#%Module1.0
# Environment Modules: copy to MODULEPATH/terrane/VERSION; make install PREFIX=... puts the prefix where root says.
set version [file tail [module-info name]]
proc ModulesHelp {} { puts stderr "Terrane computes the fields of an earth model: terrane --help, man terrane." }
module-whatis "gravity, magnetics, currents, electromagnetics, waves, heat, and their inversion"
# The MPI that it was built with, if any: prereq openmpi
conflict terrane

set prefixes [expr {[info exists env(TERRANE_PREFIXES)] ? $env(TERRANE_PREFIXES) : "/opt/terrane"}]
set root $prefixes/$version
prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
prepend-path XDG_DATA_DIRS $root/share
prepend-path CMAKE_PREFIX_PATH $root
prepend-path PKG_CONFIG_PATH $root/lib/pkgconfig
