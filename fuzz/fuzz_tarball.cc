// SPDX-License-Identifier: Apache-2.0
// A module archive from an untrusted source. Input that is not gzip is compressed first, so that it
// reaches the tar reader.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "modules/forge/record.h"
#include "modules/module/tarball.h"
#include "net/http/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (!bytes.starts_with("\x1f\x8b")) bytes = bunraku::http::gzip(bytes);
    bunraku::module::TarballLimits limits;
    limits.unpacked = 4 << 20;
    limits.entries = 1000;
    if (auto t = bunraku::module::inspect_tarball(bytes, limits)) {
        const std::string record = bunraku::forge::make_record(*t, bytes.size(), "", "", 0);
        std::string_view rest = record;
        if (!bunraku::forge::read_record(&rest)) __builtin_trap();
    }
    return 0;
}
