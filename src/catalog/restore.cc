#include "catalog/restore.h"

#include "catalog/document.h"
#include "value/build.h"

namespace bunraku::catalog {

namespace {

/// True where the data holds nothing but plain data: the common case, kept without a copy.
bool is_plain(const Value& v, int depth) {
    if (depth > 512) return false;
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            if (!is_plain(item, depth + 1)) return false;
        }
    } else if (v.is_hash()) {
        for (const value::Entry& e : v.as_hash()) {
            if (e.key.is_string() && e.key.as_string() == "__ptype") return false;
            if (!is_plain(e.value, depth + 1)) return false;
        }
    }
    return true;
}

std::string capitalised_segments(std::string_view name) {
    std::string out(name);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if ((i == 0 || out[i - 1] == ':') && out[i] >= 'a' && out[i] <= 'z') {
            out[i] = static_cast<char>(out[i] - 32);
        }
    }
    return out;
}

Value reference_string(base::Arena& arena, std::string_view ptype, const Value& data) {
    if (!data.is_hash()) return data;
    auto text = [&](std::string_view key) {
        const Value* v = data.as_hash().find(key);
        return v && v->is_string() ? v->as_string() : std::string_view();
    };
    std::string out;
    if (ptype == "Pcore::ResourceType" && !text("type_name").empty() && !text("title").empty()) {
        out = capitalised_segments(text("type_name")) + "[" + std::string(text("title")) + "]";
    } else if (ptype == "Pcore::ClassType" && !text("class_name").empty()) {
        out = "Class[" + capitalised_segments(text("class_name")) + "]";
    } else {
        return data;
    }
    return value::make_string(arena, out);
}

}  // namespace

Value restore_value(base::Arena& arena, const Value& data, const value::TypedFactory& make_typed) {
    if (is_plain(data, 0)) return data;
    if (make_typed) return value::from_rich_data(arena, data, make_typed);
    return value::from_rich_data(arena, data, [&](std::string_view ptype, const Value& hash) {
        return reference_string(arena, ptype, hash);
    });
}

}  // namespace bunraku::catalog
