#!/bin/bash
# The ELF headers of an optimised build show the protections of tools/harden.cmake.
. "${0%/*}/lib.sh"
[ "${HARDENED:-0}" = 1 ] || { echo "Not an optimised build: nothing to check."; exit 0; }
headers=$(readelf --wide --file-header --segments "$BUNRAKU")
dynamic=$(readelf --wide --dynamic "$BUNRAKU")
symbols=$(readelf --wide --dyn-syms "$BUNRAKU")
holds "$headers" '^ +Type: +DYN '
holds "$headers" '^ +GNU_RELRO '
holds "$headers" '^ +GNU_STACK .* RW +0x'
lacks "$headers" '^ +LOAD .* RWE '
holds "$dynamic" 'FLAGS.*BIND_NOW|FLAGS.*NOW'
holds "$dynamic" 'FLAGS_1.*PIE'
lacks "$dynamic" 'RPATH|RUNPATH|TEXTREL'
holds "$symbols" '__stack_chk_fail'
holds "$symbols" '__mem(cpy|move|set)_chk'
# The C library of Debian 12 does not have the note for control-flow protection, so that the linker
# leaves it out. The instructions are there.
start=$(objdump --disassemble=main "$BUNRAKU")
case "$(uname -m)" in
    x86_64) holds "$start" '\sendbr64' ;;
    aarch64) holds "$start" '\s(bti|paciasp)' ;;
esac
finish
