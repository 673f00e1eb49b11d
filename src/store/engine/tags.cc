// SPDX-License-Identifier: Apache-2.0
#include "store/engine/tags.h"

#include <algorithm>
#include <utf8proc.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"

namespace bunraku::store {

namespace {

bool tag_letter(std::int32_t c) {
    switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO: return true;
        default: return false;
    }
}

}  // namespace

bool valid_tag(std::string_view tag) {
    for (std::size_t i = 0; i < tag.size();) {
        auto c = static_cast<unsigned char>(tag[i]);
        if (c < 0x80) {
            bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
            if (!plain && (i == 0 || (c != ':' && c != '.' && c != '-'))) return false;
            ++i;
            continue;
        }
        utf8proc_int32_t code = -1;
        auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(tag.data() + i),
                                  static_cast<utf8proc_ssize_t>(tag.size() - i), &code);
        if (n <= 0 || !tag_letter(code)) return false;
        i += static_cast<std::size_t>(n);
        BUNRAKU_ASSERT(i <= tag.size());
    }
    return !tag.empty();
}

std::string tags_json(std::vector<std::string> tags) {
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    std::string out = "[";
    for (const std::string& tag : tags) {
        if (out.size() > 1) out += ',';
        codec::append_json_string(out, tag);
    }
    return out + "]";
}

}  // namespace bunraku::store
