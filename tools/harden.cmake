# Compiler and linker flags of optimised builds that make memory errors harder to exploit.
# tests/e2e/hardening.sh checks the program for their traces (docs/design/0390).
include(CheckCXXCompilerFlag)

# CMake compiles static libraries with -fPIC, whose symbols can be interposed and are therefore not
# inlined. The libraries here end in executables only.
add_compile_options($<$<CONFIG:Release>:-fPIE>)
add_link_options($<$<CONFIG:Release>:-pie>)
foreach(flag -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero -fcf-protection
        -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "BUNRAKU_HAS${flag}" supported)
  check_cxx_compiler_flag(${flag} ${supported})
  if(${supported})
    add_compile_options($<$<CONFIG:Release>:${flag}>)
  endif()
endforeach()
# The C library ignores a level that it does not know. Distributions may predefine a lower one.
add_compile_options($<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
add_link_options($<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>)
