-- Lmod: copy to MODULEPATH/terrane/VERSION.lua; make install PREFIX=... puts the prefix where root says.
help([[Terrane computes the fields of an earth model: terrane --help, man terrane.]])
whatis("Name: Terrane")
whatis("Version: " .. myModuleVersion())
whatis("Description: gravity, magnetics, currents, electromagnetics, waves, heat, and their inversion")
-- The MPI that it was built with, if any: depends_on("openmpi")
conflict("terrane")

local root = pathJoin(os.getenv("TERRANE_PREFIXES") or "/opt/terrane", myModuleVersion())
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share"))  -- completion of bash and fish
prepend_path("CMAKE_PREFIX_PATH", root)
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
