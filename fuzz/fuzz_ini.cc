// SPDX-License-Identifier: Apache-2.0
// puppet.conf and environment.conf: reading returns the value that `config set` wrote, and all
// other values are unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/codec/ini.h"

using namespace bunraku::codec;

static std::size_t count(const IniFile& file) {
    std::size_t n = 0;
    for (const auto& section : file.sections) n += section.entries.size();
    return n;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto before = parse_ini(text);
    if (!before) return 0;
    const bool there = before->find("agent", "fuzzed") != nullptr;
    auto after = parse_ini(set_ini_value(text, "agent", "fuzzed", "v"));
    if (!after) std::abort();
    const IniEntry* set = after->find("agent", "fuzzed");
    if (!set || set->value != "v") std::abort();
    if (!there && count(*after) != count(*before) + 1) std::abort();
    auto removed = parse_ini(remove_ini_value(text, "agent", "fuzzed"));
    if (!removed || (!there && count(*removed) != count(*before))) std::abort();
    return 0;
}
