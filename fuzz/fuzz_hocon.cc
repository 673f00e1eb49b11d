// HOCON data and configuration: an object or Ruby's complaint.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/codec/hocon.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Files that a text names are not what is tried here.
    if (text.find("file") != std::string_view::npos) return 0;
    auto read = codec::parse_hocon(text);
    if (read && read->kind != codec::YamlNode::Kind::Mapping) std::abort();
    return 0;
}
