# Shared by the scripts: the packages that a build needs, and how to install them on Debian 12.
# Source it from the root of the repository.

build_packages=(g++ cmake ninja-build pkg-config mold ccache python3 libfmt-dev
    libssl-dev libsqlite3-dev libpq-dev libonig-dev libyaml-dev libutf8proc-dev libboost1.81-dev
    zlib1g-dev libarchive-dev libgdbm-dev libmd4c-dev libboost-context1.81-dev libmimalloc-dev)
# Additional packages for script/package.
package_packages=(binutils dpkg-dev)
# The program itself does not need Ruby, PostgreSQL, Augeas or these shells. Without them their
# tests are skipped.
test_packages=(libgtest-dev ruby postgresql curl openssl git libaugeas0 zsh fish mandoc "${package_packages[@]}")
# The tests under AddressSanitizer and the fuzz targets share one build with clang.
sanitizer_packages=(clang-19 libclang-rt-19-dev llvm-19)
lint_packages=(clang-format-19 clang-tidy-19)

# Without these settings ccache does not cache objects that are compiled with a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
# Lets clones in different folders share the compiler cache.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

say() { printf '\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '%s\n' "$*"; }; fi

# need PACKAGE...: installs the packages that are missing.
need() {
    local missing=()
    for package in "$@"; do
        case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
            *' installed') ;;
            *) missing+=("$package") ;;
        esac
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        echo "Required packages, by their Debian names: ${missing[*]}" >&2
        return 1
    fi
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            echo "Missing packages; install them as root, then run this again:" >&2
            echo "    apt-get install -y --no-install-recommends ${missing[*]}" >&2
            return 1
        fi
    fi
    say "Installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET TARGET...: configures and builds. It passes cmake_options to cmake.
cmake_options=()
build() {
    local preset=$1
    shift
    cmake --preset "$preset" "${cmake_options[@]}" >/dev/null
    cmake --build --preset "$preset" --parallel "$(nproc)" --target "$@"
}
