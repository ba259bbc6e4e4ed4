# stages: sourced by the other scripts; goes to the repository's root and names each stage and the time it took.

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

stage() { # stage NAME COMMAND...
    local name=$1 start=$SECONDS
    shift
    printf '== %s\n' "$name"
    "$@"
    printf '== %s: %d s\n\n' "$name" $((SECONDS - start))
}

quietly() { # quietly COMMAND...: shows what it printed only where it fails
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        echo "failed: $*" >&2
        return 1
    fi
    rm -f "$log"
}

configure_and_build() { # configure_and_build PRESET [TARGET...]
    local preset=$1 launcher
    shift
    launcher=$(command -v ccache || true)
    export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1 # what another clone has compiled is found
    cmake --preset "$preset" --log-level=WARNING ${launcher:+-D CMAKE_CXX_COMPILER_LAUNCHER=ccache} >/dev/null &&
        cmake --build --preset "$preset" ${1:+--target "$@"}
}
