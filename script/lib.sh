# Shared by the scripts: the packages that a build needs, and how to install them on Debian 12 and
# 13 and on Ubuntu 24.04. Source it from the root of the repository.

# A version with a plus sign in a name stands for this version or, if the release does not have it,
# the lowest later one.
build_packages=(g++ cmake ninja-build pkg-config mold ccache python3 libfmt-dev
    libssl-dev libsqlite3-dev libpq-dev libonig-dev libyaml-dev libutf8proc-dev libboost1.81+-dev
    zlib1g-dev libarchive-dev libgdbm-dev libmd4c-dev libboost-context1.81+-dev libmimalloc-dev)
# Additional packages for script/package, and for its repositories.
package_packages=(binutils dpkg-dev rpm)
repository_packages=(dpkg-dev gpg gpg-agent gpgv createrepo-c rpm python3)
# The program itself does not need Ruby, puppet-lint, PostgreSQL, Augeas, a browser or these shells.
# Without them their tests are skipped.
test_packages=(libgtest-dev procps iproute2 python3-yaml ruby puppet-lint postgresql curl openssl git libaugeas0 zsh fish
    mandoc chromium fonts-liberation neovim valgrind "${package_packages[@]}" "${repository_packages[@]}")
# The tests under AddressSanitizer and the fuzz targets share one build with clang.
sanitizer_packages=(clang-19 libclang-rt-19-dev llvm-19)
lint_packages=(clang-format-19 clang-tidy-19)
# script/site
site_packages=(mkdocs python3)
# script/root
root_packages=(mmdebstrap)

# Without these settings ccache does not cache objects that are compiled with a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
# Lets clones in different folders share the compiler cache.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

say() { printf '\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '%s\n' "$*"; }; fi

# packages_installed, packages_available: print the names of packages, one per line.
packages_installed() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' || true; }
packages_available() { apt-cache pkgnames 2>/dev/null || true; }

# package_for NAME LIST: prints the package of LIST that NAME stands for, or returns 1.
package_for() {
    local version
    if [[ $1 =~ ^([^0-9]+)([0-9.]+)\+(.*)$ ]]; then
        while read -r version; do
            if dpkg --compare-versions "$version" ge "${BASH_REMATCH[2]}"; then
                echo "${BASH_REMATCH[1]}$version${BASH_REMATCH[3]}"
                return 0
            fi
        done < <(sed -n "s/^${BASH_REMATCH[1]}\([0-9.]*\)${BASH_REMATCH[3]}\$/\1/p" <<<"$2" | sort -V)
        return 1
    fi
    grep -qxF -- "$1" <<<"$2" && echo "$1"
}

# packages_for NAME...: sets `packages` to the packages of this release for these names.
packages_for() {
    local list name
    list=$(packages_available)
    packages=()
    for name in "$@"; do
        packages+=("$(package_for "$name" "$list")") || { echo "This release has no package $name" >&2; return 1; }
    done
}

# need PACKAGE...: installs the packages that are missing.
need() {
    local missing=() packages=() list name
    list=$(packages_installed)
    for name in "$@"; do
        package_for "$name" "$list" >/dev/null || missing+=("$name")
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
            packages_for "${missing[@]}" 2>/dev/null || packages=("${missing[@]}")
            echo "Missing packages; install them as root, then run this again:" >&2
            echo "    apt-get install -y --no-install-recommends ${packages[*]}" >&2
            return 1
        fi
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    packages_for "${missing[@]}" || return 1
    say "Installing ${packages[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# browser_tests: installs the packages of the console's browser tests (tests/console).
# Node.js may come from another source than Debian, whose package npm would then conflict with it.
browser_tests() {
    command -v npm >/dev/null || need nodejs npm
    npm ci --prefix tests/console --no-audit --no-fund --silent
}

# build PRESET TARGET...: configures and builds. It passes cmake_options to cmake. With
# BUNRAKU_NO_WARNINGS=1, a warning of the compiler is a failure. (The option -Werror would do that,
# too, but objects that are compiled with it and without it do not share the compiler cache.)
cmake_options=()
build() {
    local preset=$1
    shift
    cmake --preset "$preset" "${cmake_options[@]}" >/dev/null
    if [ -z "${BUNRAKU_NO_WARNINGS:-}" ]; then
        cmake --build --preset "$preset" --parallel "$(nproc)" --target "$@"
        return
    fi
    cmake --build --preset "$preset" --parallel "$(nproc)" --target "$@" | tee "build/$preset/build.log"
    if grep -B 2 -A 5 ' warning: ' "build/$preset/build.log"; then
        echo "The compiler printed warnings, which BUNRAKU_NO_WARNINGS=1 does not allow." >&2
        return 1
    fi
}
