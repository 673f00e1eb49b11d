# Toolchain file: builds for another architecture of Debian, whose libraries are installed beside those of
# the machine (`apt-get install libssl-dev:arm64`). script/cross makes such a root directory.
#   cmake -DCMAKE_TOOLCHAIN_FILE=tools/cross.cmake -DBUNRAKU_TRIPLET=aarch64-linux-gnu ...
set(BUNRAKU_TRIPLET aarch64-linux-gnu CACHE STRING "The architecture to build for")
# Also read by the configurations of try_compile().
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BUNRAKU_TRIPLET)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${BUNRAKU_TRIPLET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${BUNRAKU_TRIPLET}-g++)
# Headers and libraries are those of the other architecture; programs are those of this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_LIBRARY_ARCHITECTURE ${BUNRAKU_TRIPLET})
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${BUNRAKU_TRIPLET}/pkgconfig:/usr/share/pkgconfig)
# The installation and the unit tests run programs.
find_program(emulator NAMES qemu-${CMAKE_SYSTEM_PROCESSOR}-static qemu-${CMAKE_SYSTEM_PROCESSOR})
if(emulator)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator})
endif()
