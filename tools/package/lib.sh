# Shared by the scripts that build packages: the version, and the files of a package. They are
# sourced by script/package in the root of the repository.
# shellcheck shell=bash

# set_version: sets program_version, version (of packages) and SOURCE_DATE_EPOCH. The version of an
# unreleased commit sorts before the next release and after earlier unreleased commits.
set_version() {
    local git=(git -c safe.directory=*) commit
    program_version=$(sed -n 's/^project(bunraku VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    if commit=$("${git[@]}" log -1 --format=%h --abbrev=12 2>/dev/null); then
        SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$("${git[@]}" log -1 --format=%ct)}
        version=$program_version
        "${git[@]}" describe --exact-match --match "v$program_version" >/dev/null 2>&1 ||
            version+="~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$commit"
    else
        SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0} version=$program_version
    fi
    export SOURCE_DATE_EPOCH
}

# from_cache NAME: prints a variable of the build's CMake cache.
from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$finished/CMakeCache.txt"; }

# install_files ROOT PREFIX: installs the build to ROOT/PREFIX.
install_files() { DESTDIR=$1 cmake --install "$finished" --prefix "$2" >/dev/null; }

# strip_program FILE
strip_program() { "$(from_cache CMAKE_STRIP)" --strip-unneeded -R .comment "$1"; }

# set_times FOLDER: sets the times of all files to that of the commit, so that packages do not depend
# on when the files were checked out.
set_times() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

# library_file NAME: prints the path of a shared library for which the program was built, such as
# libpq.so.5.
library_file() {
    local file
    file=$("$(from_cache CMAKE_CXX_COMPILER)" "-print-file-name=$1")
    [ "$file" != "$1" ] || { echo "$1 is not installed" >&2; return 1; }
    realpath "$file"
}

compressed() {
    if [ -n "$fast" ]; then gzip -n -1; else xz -T1 -6; fi
}
