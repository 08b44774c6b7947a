#!/bin/sh
# Measure the evolution on a machine with a GPU on which nothing can be installed.
#
#   experiments/gp4c/on_a_gpu.sh NEEDS OUT SECONDS STEP...
#
# NEEDS is a folder with tar.xz files, each with a folder `needs` of unpacked packages that the machine lacks.
# Results are written to OUT. SECONDS is the limit of the step `searches`, which continues where an
# earlier run on the same machine stopped. The steps:
#   compare   240 random formulas on the GPU and by classes on the processor
#   fold      the time of one fold of the paper, with its seeds side by side
#   evolve    `freshet evolve --device cuda` at the paper's size, with the test on other pages
#   searches  all searches of the experiment at the paper's size; `python -m experiments.gp4c --full
#             --trace world --device cuda --work FOLDER` on any machine then runs their tests,
#             where FOLDER is the unpacked searches.tar
set -u
needs=$1 out=$2 seconds=$3
shift 3
folder=/tmp/freshet-gpu
mkdir -p "$folder" "$out"
if [ ! -d "$folder/needs" ]; then
    for archive in "$needs"/*.tar.xz; do python3 -m tarfile -e "$archive" "$folder" || exit 1; done
fi
export PYTHONPATH="$PWD/src:$PWD:$folder/needs" PYTHONUNBUFFERED=1
export CUPY_CACHE_DIR="$folder/cupy" NUMBA_CACHE_DIR="$folder/numba"
status=0
for step in "$@"; do
    echo "== $step, $(date -u +%H:%M:%S)"
    begun=$(date +%s)
    case $step in
    compare)
        python3 -m benchmarks.evolve_gpu --device cuda --compare 240 2>&1 | tee "$out/compare.txt"
        ;;
    fold)
        python3 -m benchmarks.evolve_gpu --device cuda --json 2>&1 | tee "$out/fold.txt"
        ;;
    evolve)
        python3 -m freshet evolve --trace brdc --pages 417048 --device cuda --json \
            --out "$out/formula.json" --checkpoint "$folder/evolve.checkpoint" \
            >"$out/evolve.json" 2>"$out/evolve.log" || status=1
        tail -5 "$out/evolve.log"
        ;;
    searches)
        # Searches are found again only by the digest of the same world.
        python3 -c "from experiments.gp4c.data import TraceSource, open_source
print('digest of the world', open_source(TraceSource('world')).digest)" | tee -a "$out/seconds.txt"
        timeout "$seconds" python3 -m experiments.gp4c --full --trace world --device cuda \
            --processes "${PROCESSES:-8}" --work "$folder/searches" --only-searches \
            2>"$out/searches.log" || status=1
        tail -c 300 "$out/searches.log"
        tar cf "$out/searches.tar" -C "$folder" searches
        ;;
    *)
        echo "unknown step $step"
        status=2
        ;;
    esac
    echo "== $step took $(($(date +%s) - begun)) s" | tee -a "$out/seconds.txt"
done
exit $status
