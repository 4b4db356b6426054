# Completion of terrane for bash; written by tools/shell_files from what `terrane --help` says.
_terrane_files() {  # -d or -f, and for files a pattern
  local path
  compopt -o filenames 2>/dev/null
  COMPREPLY=()
  while IFS= read -r path; do
    if [ -d "$path" ] || [ -z "${2:-}" ] || [[ $path == $2 ]]; then COMPREPLY+=("$path"); fi
  done < <(compgen "$1" -- "$word")
}

_terrane() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "run invert check new info convert plot devices --help --version" -- "$word"))
    return
  fi
  case $verb:$previous in
    run:--data | run:-o | run:--output | invert:--data | invert:-o | invert:--output | check:--data)
      _terrane_files -d
      return
      ;;
    run:--arg | run:--set | run:--only | run:--threads | invert:--arg | invert:--set | invert:--only | \
      invert:--threads | invert:--coupling | check:--arg | check:--set | check:--only | check:--threads | new:--mesh \
      | new:--survey | new:--of | convert:--field | convert:--property | convert:--unit | convert:--length-unit | \
      plot:-c | plot:--channels | plot:--title | plot:--slice | plot:--region | plot:--limits | plot:--cmap | \
      plot:--dpi)
      :
      return
      ;;
    invert:--with)
      _terrane_files -f '*.toml'
      return
      ;;
    new:-o | new:--output | new:--from | info:--mesh | convert:--mesh | plot:-o | plot:--out)
      _terrane_files -f
      return
      ;;
    convert:--frame | convert:--from-frame)
      COMPREPLY=($(compgen -W "enu harmonica simpeg ubc tomofast" -- "$word"))
      return
      ;;
    convert:--units)
      COMPREPLY=($(compgen -W "geo si" -- "$word"))
      return
      ;;
    convert:--from | convert:--to)
      COMPREPLY=($(compgen -W "netcdf hdf5 emg3d emg3d-survey csv ubc-mesh ubc-density ubc-model ubc-gravity ubc-magnetic ubc-gradient ubc-dcip bert geosoft-xyz res2dinv syscal sting r2-protocol modem-data modem-model edi geotiff esri surfer surfer-text npy segy segy-ibm su su-xdr rsf vtr vtkhdf vts tomofast-grid gmsh specfem-mesh specfem-par specfem-sources specfem-stations specfem-tomography tomofast-data" -- "$word"))
      return
      ;;
    plot:--scale)
      COMPREPLY=($(compgen -W "log linear" -- "$word"))
      return
      ;;
  esac
  case $verb in
    run)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help --data --arg --set --only --threads --json -o --output --resume -q --quiet --no-plots" -- "$word"))
      else
        _terrane_files -f '*.toml'
      fi
      ;;
    invert)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help --data --arg --set --only --threads --json -o --output --with --coupling --resume -q --quiet --no-plots" -- "$word"))
      else
        _terrane_files -f '*.toml'
      fi
      ;;
    check)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help --data --arg --set --only --threads --json --no-plots" -- "$word"))
      else
        _terrane_files -f '*.toml'
      fi
      ;;
    new)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help -o --output --mesh --survey --from --short --of --reference" -- "$word"))
      else
        COMPREPLY=($(compgen -W "acoustic elastic electric electromagnetic gravity heat magnetic traveltime inversion" -- "$word"))
      fi
      ;;
    info)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help --mesh --json" -- "$word"))
      else
        _terrane_files -f
      fi
      ;;
    convert)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help --mesh --field --property --unit --length-unit --frame --from-frame --units --from --to --formats" -- "$word"))
      else
        _terrane_files -f
      fi
      ;;
    plot)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help -o --out -c --channels --title --slice --region --limits --scale --cmap --wiggle --dpi" -- "$word"))
      else
        _terrane_files -f
      fi
      ;;
    devices)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help" -- "$word"))
      fi
      ;;
  esac
}
complete -F _terrane terrane
