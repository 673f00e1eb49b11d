#!/bin/bash
# The ELF headers of an optimised build show the protections of tools/harden.cmake.
. "${0%/*}/lib.sh"
[ "${HARDENED:-0}" = 1 ] || { echo "Not an optimised build: nothing to check."; exit 0; }
headers=$(readelf --wide --file-header --segments "$BUNRAKU")
dynamic=$(readelf --wide --dynamic "$BUNRAKU")
symbols=$(readelf --wide --dyn-syms "$BUNRAKU")
notes=$(readelf --wide --notes "$BUNRAKU")
holds "$headers" '^ +Type: +DYN '
holds "$headers" '^ +GNU_RELRO '
holds "$headers" '^ +GNU_STACK .* RW +0x'
lacks "$headers" '^ +LOAD .* RWE '
holds "$dynamic" 'FLAGS.*BIND_NOW|FLAGS.*NOW'
holds "$dynamic" 'FLAGS_1.*PIE'
lacks "$dynamic" 'RPATH|RUNPATH|TEXTREL'
holds "$symbols" '__stack_chk_fail'
holds "$symbols" '__mem(cpy|move|set)_chk'
case "$(uname -m)" in
    x86_64) holds "$notes" 'x86 feature: IBT, SHSTK' ;;
    aarch64) holds "$notes" 'AArch64 feature: BTI, PAC' ;;
esac
finish
