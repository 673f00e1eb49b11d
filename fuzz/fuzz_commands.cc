// SPDX-License-Identifier: Apache-2.0
// Decodes bodies of commands: for any input, the result is a command or an error. The first byte
// chooses the command, the second byte its version.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/codec/json_cursor.h"
#include "store/db/command.h"
#include "store/db/queue_format.h"
#include "store/db/writer.h"

using namespace bunraku::store;
using namespace bunraku::query;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    std::string body(reinterpret_cast<const char*>(data) + 2, size - 2);
    CommandHeader header;
    header.kind = kCommandKinds[data[0] % std::size(kCommandKinds)];
    header.version = data[1] % 10;
    header.certname = "n";
    header.received = 1700000000000;
    auto prepared = prepare_command(header, body, {});
    if (prepared) {
        // The remaining parts of a catalog are checked only when it is stored.
        static auto writer = [] {
            auto opened = Writer::open("/tmp/bunraku-fuzz-commands.sqlite3", {.durable = false});
            return opened ? std::move(*opened) : nullptr;
        }();
        if (writer) {
            auto transaction = writer->begin();
            if (transaction) (void)(*prepared)->apply(*writer);
            writer->forget();
        }
    }
    if (bunraku::codec::check_utf8(body).empty()) {
        try {
            bunraku::codec::JsonCursor json(body);
            std::string once, twice;
            json.canonical(once);
            // Canonical JSON must not change when it is made canonical again.
            bunraku::codec::JsonCursor again(once);
            again.canonical(twice);
            if (once != twice) __builtin_trap();
        } catch (const bunraku::codec::JsonError&) {
        }
    }
    queue_format::Record record;
    (void)queue_format::decode(body, &record);
    return 0;
}
