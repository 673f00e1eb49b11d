// SPDX-License-Identifier: Apache-2.0
#include "language/function/yaml_text.h"

#include <map>

#include "core/base/work_limit.h"
#include "language/function/support.h"

namespace bunraku::function {

namespace {

using value::Kind;

class YamlText {
public:
    explicit YamlText(const codec::YamlWriteOptions& options) : writer_(options) {}
    std::string write(const Value& v) {
        count(v);
        visit(v);
        return writer_.finish();
    }

private:
    struct Seen {
        int times = 0;
        /// the anchor's number, in the order in which Psych reaches the second use of each value
        int id = 0;
        bool written = false;
    };
    static const void* identity(const Value& v) {
        if (v.is_array()) return v.as_array().empty() ? nullptr : v.as_array().data();
        return v.is_hash() && !v.as_hash().empty() ? &v.as_hash() : nullptr;
    }
    void count(const Value& v) {
        base::step();
        if (const void* id = identity(v)) {
            Seen& seen = seen_[id];
            if (++seen.times > 1) {
                if (!seen.id) seen.id = ++ids_;
                return;
            }
        }
        if (v.is_array()) {
            for (const Value& item : v.as_array()) count(item);
        } else if (v.is_hash()) {
            for (const auto& e : v.as_hash()) {
                count(e.key);
                count(e.value);
            }
        }
    }
    void visit(const Value& v) {
        base::step();
        std::string anchor;
        if (const void* id = identity(v)) {
            Seen& seen = seen_[id];
            if (seen.id) {
                anchor = std::to_string(seen.id);
                if (seen.written) return writer_.alias(anchor);
                seen.written = true;
            }
        }
        switch (v.kind()) {
            case Kind::Array:
                writer_.start_sequence(anchor);
                for (const Value& item : v.as_array()) visit(item);
                return writer_.end_sequence();
            case Kind::Hash:
                writer_.start_mapping(anchor);
                for (const auto& e : v.as_hash()) {
                    visit(e.key);
                    visit(e.value);
                }
                return writer_.end_mapping();
            case Kind::Undef: return writer_.plain("");
            case Kind::Default: return writer_.plain(":default");
            case Kind::Float: {
                const std::string s = value::format_float(v.as_float());
                return writer_.plain(s == "Infinity"    ? ".inf"
                                     : s == "-Infinity" ? "-.inf"
                                     : s == "NaN"       ? ".nan"
                                                        : s);
            }
            case Kind::Boolean:
            case Kind::Integer: return writer_.plain(value::to_text(v));
            default: return writer_.string(ruby_to_s(v));
        }
    }
    codec::YamlWriter writer_;
    std::map<const void*, Seen> seen_;
    int ids_ = 0;
};

}  // namespace

std::string yaml_text(const Value& v, const codec::YamlWriteOptions& options) {
    return YamlText(options).write(v);
}

}  // namespace bunraku::function
