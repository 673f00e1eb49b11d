// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/diff_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/index.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/line_diff.h"
#include "resources/catalog/parameters.h"

namespace bunraku::catalog {

namespace {

constexpr std::string_view kRule = "*******************************************\n";
constexpr std::size_t kWidth = 120;

std::string indented(std::string_view text, int by) {
    BUNRAKU_ASSERT(by >= 0);
    std::string out(static_cast<std::size_t>(by), ' ');
    out += text;
    out += '\n';
    return out;
}

class Writer {
public:
    Writer(std::string& out, const Catalog& before, const Catalog& after,
           const DiffTextOptions& options)
        : out_(out),
          before_(before),
          after_(after),
          options_(options),
          naming_(options.naming ? *options.naming : plain_naming()),
          old_index_(before),
          new_index_(after) {}

    void run(const CatalogDiff& diff) {
        names("classes", diff.classes_added, diff.classes_removed);
        for (const Ref& ref : diff.removed) {
            line('-', fmt::format("{}{}", ref.to_string(), location(before_, old_index_, ref)));
            out_ += kRule;
        }
        for (const Ref& ref : diff.added) {
            line('+', fmt::format("{}{}{}", ref.to_string(), location(after_, new_index_, ref),
                                  options_.detail_add ? " =>" : ""));
            if (options_.detail_add) details(ref);
            out_ += kRule;
        }
        for (const ResourceChange& change : diff.changed) changed(change);
        names("relationships", diff.relations_added, diff.relations_removed);
    }

private:
    void line(char sign, std::string_view text, int indent = 0) {
        BUNRAKU_ASSERT(indent >= 0);
        const std::string_view color = !options_.color ? ""
                                       : sign == '+'   ? "\033[32m"
                                       : sign == '-'   ? "\033[31m"
                                       : sign == '@'   ? "\033[36m"
                                                       : "";
        out_.append(static_cast<std::size_t>(indent), ' ');
        out_ += color;
        if (sign == '+' || sign == '-') {
            out_ += sign;
            out_ += ' ';
        }
        out_ += text;
        if (!color.empty()) out_ += "\033[0m";
        out_ += '\n';
    }

    std::string location(const Catalog& catalog, const Index& index, const Ref& ref) const {
        if (!options_.places) return {};
        auto at = index.by_title(ref.type, ref.title);
        if (!at || catalog.resources[*at].file.empty()) return {};
        const Resource& r = catalog.resources[*at];
        return fmt::format(" ({}:{})", r.file, r.line);
    }

    void names(std::string_view what, const std::vector<std::string>& added,
               const std::vector<std::string>& removed) {
        if (added.empty() && removed.empty()) return;
        out_ += fmt::format("  {} =>\n", what);
        for (const auto& n : removed) line('-', n, 3);
        for (const auto& n : added) line('+', n, 3);
        out_ += kRule;
    }

    std::string cut(std::string text) const {
        if (!options_.truncate || text.size() <= kWidth) return text;
        std::size_t end = kWidth - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
        BUNRAKU_ASSERT(end < text.size() && end + 3 <= kWidth);
        return text.substr(0, end) + "...";
    }

    void details(const Ref& ref) {
        auto at = new_index_.by_title(ref.type, ref.title);
        if (!at) return;
        auto shown = shown_parameters(after_.resources[*at], naming_);
        if (shown.empty()) return;
        out_ += "   parameters =>\n";
        for (const auto& p : shown) {
            std::string text;
            if (p.sensitive) {
                text = "(sensitive)";
            } else if (p.value) {
                append_json_parameter(text, p.name, *p.value, ValueForm::Rich, true);
            } else {
                codec::append_json_string(text, p.text);
            }
            out_ += indented(fmt::format("{} => {}", p.name, cut(std::move(text))), 5);
        }
    }

    void changed(const ResourceChange& change) {
        BUNRAKU_ASSERT(!change.empty());
        out_ += fmt::format("  {}{} =>\n", change.ref.to_string(),
                            location(after_, new_index_, change.ref));
        if (!change.parameters.empty()) out_ += "   parameters =>\n";
        for (const auto& p : change.parameters) {
            if (p.sensitive) {
                out_ += indented(fmt::format("{} =>", p.name), 5);
                line(' ', "(sensitive value changed)", 6);
                continue;
            }
            BUNRAKU_ASSERT(!p.values.empty());
            for (const auto& v : p.values) value(v);
        }
        if (!change.tags_added.empty() || !change.tags_removed.empty()) {
            out_ += "   tags =>\n";
            for (const auto& t : change.tags_removed) line('-', t, 5);
            for (const auto& t : change.tags_added) line('+', t, 5);
        }
        auto pair = [&](std::string_view what, std::string_view old, std::string_view now) {
            out_ += fmt::format("   {} =>\n", what);
            if (!old.empty()) line('-', old, 5);
            if (!now.empty()) line('+', now, 5);
        };
        if (change.exported) {
            pair("exported", change.exported->first ? "true" : "false",
                 change.exported->second ? "true" : "false");
        }
        if (change.container)
            pair("contained in", change.container->first, change.container->second);
        if (change.location) pair("declared at", change.location->first, change.location->second);
        out_ += kRule;
    }

    void value(const ValueChange& change) {
        BUNRAKU_ASSERT(!change.path.empty() && (change.before || change.after));
        out_ += indented(fmt::format("{} =>", fmt::join(change.path, " => ")), 5);
        base::Arena arena(4096);
        auto parsed = [&](const std::optional<std::string>& json) {
            auto v = json ? value::parse_json(arena, *json) : base::Result<Value>(Value::undef());
            return v ? *v : Value::undef();
        };
        const Value old = parsed(change.before), now = parsed(change.after);
        auto has_lines = [](const Value& v) {
            return v.is_string() && v.as_string().find('\n') != std::string_view::npos;
        };
        if (change.before && change.after && old.is_string() && now.is_string() &&
            (has_lines(old) || has_lines(now))) {
            lines(std::string(old.as_string()), std::string(now.as_string()));
        } else if (change.before && change.after && old.is_array() && now.is_array() &&
                   old.as_array().size() + now.as_array().size() > 2) {
            auto text = [](const Value& array) {
                std::string out;
                for (const Value& v : array.as_array())
                    out += (v.is_string() && v.as_string().find('\n') == std::string_view::npos
                                ? std::string(v.as_string())
                                : value::to_json(v)) +
                           "\n";
                return out;
            };
            const std::string a = text(old), b = text(now);
            if (a == b) {  // such as 1 and "1"
                whole(change);
            } else {
                lines(a, b);
            }
        } else {
            whole(change);
        }
    }

    void whole(const ValueChange& change) {
        if (change.before) line('-', cut(*change.before), 6);
        if (change.after) line('+', cut(*change.after), 6);
    }

    void lines(const std::string& a, const std::string& b) {
        BUNRAKU_ASSERT(options_.context >= 0);
        for (const auto& l : line_diff(a, b, options_.context)) {
            const char sign = l.empty() ? ' ' : l[0];
            const std::string_view color = !options_.color ? ""
                                           : sign == '+'   ? "\033[32m"
                                           : sign == '-'   ? "\033[31m"
                                           : sign == '@'   ? "\033[36m"
                                                           : "";
            out_ += "      ";
            out_ += color;
            out_ += l;
            if (!color.empty()) out_ += "\033[0m";
            out_ += '\n';
        }
    }

    std::string& out_;
    const Catalog& before_;
    const Catalog& after_;
    const DiffTextOptions& options_;
    const Naming& naming_;
    Index old_index_, new_index_;
};

template <class Items, class Write>
void json_list(std::string& out, const Items& items, const Write& write) {
    out += '[';
    bool first = true;
    for (const auto& item : items) {
        if (!first) out += ',';
        first = false;
        write(item);
    }
    out += ']';
}

}  // namespace

void write_diff_text(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const DiffTextOptions& options) {
    if (diff.empty()) return;
    out += kRule;
    Writer(out, before, after, options).run(diff);
}

namespace {

/// Writes the differences of two catalogs as JSON.
class JsonDiffWriter {
public:
    JsonDiffWriter(std::string& out, const Catalog& before, const Catalog& after,
                   const Naming& naming)
        : out_(out), before_{before, Index(before)}, after_{after, Index(after)}, naming_(naming) {}

    void run(const CatalogDiff& diff) {
        out_ += "{\"added\":";
        json_list(out_, diff.added, [&](const Ref& ref) { whole(after_, ref); });
        out_ += ",\"removed\":";
        json_list(out_, diff.removed, [&](const Ref& ref) { whole(before_, ref); });
        out_ += ",\"changed\":";
        json_list(out_, diff.changed, [&](const ResourceChange& one) { change(one); });
        lists("classes", diff.classes_added, diff.classes_removed);
        lists("relationships", diff.relations_added, diff.relations_removed);
        out_ += '}';
    }

private:
    struct Side {
        const Catalog& catalog;
        Index index;
    };

    void text(std::string_view s) { codec::append_json_string(out_, s); }
    void texts(const std::vector<std::string>& all) {
        json_list(out_, all, [&](std::string_view s) { text(s); });
    }

    void identity(const Ref& ref) {
        out_ += "\"type\":";
        text(ref.type);
        out_ += ",\"title\":";
        text(ref.title);
    }

    /// Returns the resource, or null if the catalog does not have it.
    const Resource* location(const Side& side, const Ref& ref) {
        auto at = side.index.by_title(ref.type, ref.title);
        if (!at) return nullptr;
        const Resource& r = side.catalog.resources[*at];
        if (!r.file.empty()) {
            out_ += ",\"file\":";
            text(r.file);
            out_ += fmt::format(",\"line\":{}", r.line);
        }
        return &r;
    }

    void whole(const Side& side, const Ref& ref) {
        out_ += '{';
        identity(ref);
        const Resource* r = location(side, ref);
        out_ += ",\"parameters\":{";
        bool first = true;
        if (r) {
            for (const auto& p : shown_parameters(*r, naming_)) {
                if (!first) out_ += ',';
                first = false;
                text(p.name);
                out_ += ':';
                if (p.sensitive) {
                    out_ += "\"(sensitive)\"";
                } else if (p.value) {
                    append_json_parameter(out_, p.name, *p.value, ValueForm::Rich, true);
                } else {
                    text(p.text);
                }
            }
        }
        out_ += "}}";
    }

    void change(const ResourceChange& change) {
        out_ += '{';
        identity(change.ref);
        location(after_, change.ref);
        out_ += ",\"parameters\":";
        std::vector<std::pair<const ParameterChange*, const ValueChange*>> values;
        for (const auto& p : change.parameters) {
            if (p.sensitive) {
                values.emplace_back(&p, nullptr);
            } else {
                for (const auto& v : p.values) values.emplace_back(&p, &v);
            }
        }
        json_list(out_, values, [&](const auto& item) { parameter(*item.first, item.second); });
        if (!change.tags_added.empty() || !change.tags_removed.empty()) {
            lists("tags", change.tags_added, change.tags_removed);
        }
        if (const auto& e = change.exported) {
            out_ += fmt::format(R"(,"exported":{{"before":{},"after":{}}})", e->first, e->second);
        }
        if (change.container) pair("container", *change.container);
        if (change.location) pair("place", *change.location);
        out_ += '}';
    }

    /// `v` is null if the parameter is sensitive.
    void parameter(const ParameterChange& p, const ValueChange* v) {
        BUNRAKU_ASSERT(p.sensitive == (v == nullptr));
        out_ += "{\"name\":";
        text(p.name);
        if (!v) {
            out_ += ",\"sensitive\":true}";
            return;
        }
        out_ += ",\"path\":";
        texts(v->path);
        if (v->before) out_ += ",\"before\":" + *v->before;
        if (v->after) out_ += ",\"after\":" + *v->after;
        out_ += '}';
    }

    void lists(std::string_view what, const std::vector<std::string>& added,
               const std::vector<std::string>& removed) {
        out_ += fmt::format(",\"{}\":{{\"added\":", what);
        texts(added);
        out_ += ",\"removed\":";
        texts(removed);
        out_ += '}';
    }

    void pair(std::string_view what, const std::pair<std::string, std::string>& texts_of) {
        out_ += fmt::format(",\"{}\":{{\"before\":", what);
        text(texts_of.first);
        out_ += ",\"after\":";
        text(texts_of.second);
        out_ += '}';
    }

    std::string& out_;
    Side before_, after_;
    const Naming& naming_;
};

}  // namespace

void write_diff_json(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const Naming* given) {
    JsonDiffWriter(out, before, after, given ? *given : plain_naming()).run(diff);
}

}  // namespace bunraku::catalog
