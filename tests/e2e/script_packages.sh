#!/bin/bash
# script/lib.sh finds the packages of a release by their names and lowest versions.
. "${0%/*}/lib.sh"
# shellcheck source=script/lib.sh
. "$SOURCE/script/lib.sh"
is() { [ "$1" = "$2" ] || { printf 'FAILED: %s, expected %s\n' "$1" "$2"; failures=$((failures + 1)); }; }
release_packages=$'g++\nlibboost-dev\nlibboost1.74-dev\nlibboost1.100-dev\nlibboost1.83-dev\nlibboost1.88-dev\nlibboost1.83-doc-dev'
is "$(package_for g++ "$release_packages")" g++
is "$(package_for libboost1.81+-dev "$release_packages")" libboost1.83-dev
is "$(package_for libboost1.88+-dev "$release_packages")" libboost1.88-dev
is "$(package_for libboost1.90+-dev "$release_packages")" libboost1.100-dev
is "$(package_for libboost1.101+-dev "$release_packages" || echo none)" none
is "$(package_for ccache "$release_packages" || echo none)" none
# The names that are missing are installed with one command. An unknown name is an error.
packages_installed() { echo g++; }
packages_available() { echo "$release_packages"; }
packages_for g++ libboost1.81+-dev
is "${packages[*]}" "g++ libboost1.83-dev"
is "$(packages_for ccache 2>&1)" "This release has no package ccache"
need g++ || failures=$((failures + 1))
finish
