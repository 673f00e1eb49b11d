// SPDX-License-Identifier: Apache-2.0
// Reads responses of a Ruby child process. Invalid bytes are refused, and an accepted value can be
// sent back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "language/ruby/marshal.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    base::Arena arena;
    try {
        const auto v =
            ruby::read_marshal({reinterpret_cast<const char*>(data), size}, arena, nullptr);
        for (const bool legacy : {false, true}) {
            std::string out;
            ruby::MarshalWriter writer(out);
            writer.begin();
            writer.value(v, legacy);
            ruby::read_marshal(out, arena, nullptr);
        }
    } catch (const ruby::MarshalError&) {
    } catch (const base::PuppetError&) {
    }
    return 0;
}
