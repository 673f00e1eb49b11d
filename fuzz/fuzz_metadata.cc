// metadata.json, names, and records out of strangers' bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "forge/record.h"
#include "module/names.h"
#include "module/puppetfile.h"
#include "module/tarball.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    namespace forge = bunraku::forge;
    namespace module = bunraku::module;
    if (auto m = module::parse_metadata(text)) {
        // What is accepted can be a path and survives its own writing.
        if (!module::parse_release_name(m->slug())) __builtin_trap();
        if (!module::parse_metadata(m->json)) __builtin_trap();
    }
    std::string_view rest = text;
    (void)forge::read_record(&rest);
    (void)module::parse_file_name(text);
    (void)module::parse_puppetfile(text);
    return 0;
}
