// SPDX-License-Identifier: Apache-2.0
// Ruby's regular expressions: any pattern is translated and compiled, or refused. All matches are
// inside the text. The pattern ends at the first NUL, and the subject follows it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/regex/regex.h"
#include "core/regex/ruby_dialect.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0 || size > 1024) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto options = data[0] & 7U;
    const auto end = text.find('\0');
    const auto pattern = text.substr(0, end);
    const auto subject = end == std::string_view::npos ? pattern : text.substr(end + 1);
    regex::to_oniguruma(pattern, (options & regex::kExtended) != 0);
    auto compiled = regex::Regex::compile(pattern, options);
    if (!compiled || !regex::is_valid_utf8(subject)) return 0;
    auto match = (*compiled)->search(subject);
    if (!match) return 0;
    if (match->groups.size() != (*compiled)->group_count() + 1) std::abort();
    for (const auto& group : match->groups)
        if (group && (group->first > group->second || group->second > subject.size())) std::abort();
    return 0;
}
