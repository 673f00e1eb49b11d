# Shared by the scripts: what a build needs, and how to get it on Debian 12. Source it from the
# repository's root.

build_packages=(g++ cmake ninja-build pkg-config mold ccache python3 libfmt-dev
    libssl-dev libsqlite3-dev libpq-dev libonig-dev libyaml-dev libutf8proc-dev libboost1.81-dev
    zlib1g-dev libarchive-dev libgdbm-dev libmimalloc-dev)
# What script/package needs beside a build.
package_packages=(binutils dpkg-dev)
# Ruby, PostgreSQL, Augeas and shells are no needs of the program: without them their tests are left out.
test_packages=(libgtest-dev ruby postgresql curl openssl git libaugeas0 zsh fish mandoc "${package_packages[@]}")
# One build with clang serves the tests under AddressSanitizer and the fuzz targets.
sanitizer_packages=(clang-19 libclang-rt-19-dev llvm-19)
lint_packages=(clang-format-19 clang-tidy-19)

# Without these ccache remembers nothing that is compiled with a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
# What one clone compiled serves the next, wherever it lies.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

say() { printf '\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '%s\n' "$*"; }; fi

# need PACKAGE...: installs what is missing, and only that.
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
        echo "These are needed, under Debian's names: ${missing[*]}" >&2
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

# build PRESET TARGET...: configures and builds; cmake_options are passed on.
cmake_options=()
build() {
    local preset=$1
    shift
    cmake --preset "$preset" "${cmake_options[@]}" >/dev/null
    cmake --build --preset "$preset" --parallel "$(nproc)" --target "$@"
}
