// metadata.json, names, and records out of strangers' bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "forge/names.h"
#include "forge/puppetfile.h"
#include "forge/record.h"
#include "forge/tarball.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    namespace forge = bunraku::forge;
    if (auto m = forge::parse_metadata(text)) {
        // What is accepted can be a path and survives its own writing.
        if (!forge::parse_release_name(m->slug())) __builtin_trap();
        if (!forge::parse_metadata(m->json)) __builtin_trap();
    }
    std::string_view rest = text;
    (void)forge::read_record(&rest);
    (void)forge::parse_file_name(text);
    (void)forge::parse_puppetfile(text);
    return 0;
}
