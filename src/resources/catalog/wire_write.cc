// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "resources/catalog/parameters.h"
#include "resources/catalog/wire_format.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::catalog {

namespace {

/// Reports whether the order of the metaparameter's values has no meaning. Such values are sorted,
/// so that equal catalogs have equal texts.
bool is_unordered(std::string_view name) {
    static constexpr std::string_view kNames[] = {"alias",  "audit",   "before",    "check",
                                                  "notify", "require", "subscribe", "tag"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void append_nullable(std::string& out, const std::optional<std::string>& text) {
    if (text) {
        codec::append_json_string(out, *text);
    } else {
        out += "null";
    }
}

std::optional<std::string> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

class WireWriter {
public:
    WireWriter(const WireFormat& format, const Catalog& catalog, const WireEnvelope& envelope,
               const Naming& naming, const std::vector<Relation>& relations, WireSecrets secrets)
        : format_(format),
          catalog_(catalog),
          envelope_(envelope),
          naming_(naming),
          relations_(relations),
          secrets_(secrets) {}

    std::string run() {
        BUNRAKU_ASSERT(out_.empty() && !format_.keys.empty());
        out_.reserve(256 + catalog_.resources.size() * 400 + relations_.size() * 120);
        out_ += '{';
        bool first = true;
        for (const WireKey& key : format_.keys) {
            if (!first) out_ += ',';
            first = false;
            codec::append_json_string(out_, key.name);
            out_ += ':';
            write_field(key.field);
        }
        out_ += '}';
        return std::move(out_);
    }

private:
    void write_field(WireField field) {
        switch (field) {
            case WireField::Certname: return codec::append_json_string(out_, catalog_.name);
            case WireField::Version: return codec::append_json_string(out_, catalog_.version);
            case WireField::Environment:
                return codec::append_json_string(out_, catalog_.environment);
            case WireField::TransactionUuid:
                return append_nullable(out_, envelope_.transaction_uuid);
            case WireField::CatalogUuid:
                return append_nullable(out_, catalog_.catalog_uuid.empty()
                                                 ? envelope_.transaction_uuid
                                                 : or_null(catalog_.catalog_uuid));
            case WireField::CodeId: return append_nullable(out_, or_null(catalog_.code_id));
            case WireField::JobId: return append_nullable(out_, envelope_.job_id);
            case WireField::ProducerTimestamp:
                return codec::append_json_string(out_,
                                                 format_wire_time(envelope_.producer_timestamp));
            case WireField::Producer: return append_nullable(out_, envelope_.producer);
            case WireField::Edges: return write_edges();
            case WireField::Resources: return write_resources();
        }
        BUNRAKU_ASSERT(false);
    }

    void write_spec(const Ref& ref) {
        out_ += "{\"type\":";
        codec::append_json_string(out_, ref.type);
        out_ += ",\"title\":";
        codec::append_json_string(out_, ref.title);
        out_ += '}';
    }

    void write_edges() {
        out_ += '[';
        bool first = true;
        for (const Relation& r : relations_) {
            BUNRAKU_ASSERT(r.source < catalog_.resources.size() &&
                           r.target < catalog_.resources.size());
            out_ += first ? "{\"source\":" : ",{\"source\":";
            first = false;
            write_spec(catalog_.resources[r.source].ref);
            out_ += ",\"target\":";
            write_spec(catalog_.resources[r.target].ref);
            out_ += ",\"relationship\":\"";
            out_ += relationship_name(r.kind);
            out_ += "\"}";
        }
        out_ += ']';
    }

    void write_resources() {
        out_ += '[';
        bool first = true;
        for (const Resource& r : catalog_.resources) {
            if (r.virtual_ && !r.exported) continue;
            if (!first) out_ += ',';
            first = false;
            write_resource(r);
        }
        out_ += ']';
    }

    void write_resource(const Resource& r) {
        BUNRAKU_ASSERT(!r.virtual_ || r.exported);
        out_ += "{\"type\":";
        codec::append_json_string(out_, r.ref.type);
        out_ += ",\"title\":";
        codec::append_json_string(out_, r.ref.title);
        std::vector<std::string> aliases = all_aliases(r, naming_, format_.literal);
        std::sort(aliases.begin(), aliases.end());
        if (format_.literal) {
            out_ += ",\"aliases\":";
            codec::append_json_strings(out_, aliases);
        }
        out_ += r.exported ? ",\"exported\":true" : ",\"exported\":false";
        write_location(r);
        out_ += ",\"tags\":";
        codec::append_json_strings(out_, r.tags);
        out_ += ",\"parameters\":{";
        write_parameters(r, std::move(aliases));
        out_ += "}}";
    }

    void write_location(const Resource& r) {
        Place location{r.file, r.line};
        // Puppet records no source location for an included class. The literal formats require one,
        // so they use the location of the class's body. Stage[main] and Class[Settings] have no
        // location at all, so the literal formats write an empty file and line 1.
        if (format_.literal) {
            if (r.file.empty()) location = naming_.body_of(r.ref).value_or(location);
            location.line = std::max(location.line, 1);
        }
        BUNRAKU_ASSERT(!format_.literal || location.line >= 1);
        if (format_.literal || !location.file.empty()) {
            out_ += ",\"file\":";
            codec::append_json_string(out_, location.file);
        }
        if (format_.literal || location.line > 0)
            out_ += fmt::format(",\"line\":{}", location.line);
    }

    void write_parameters(const Resource& r, std::vector<std::string> aliases) {
        // PuppetDB's terminus treats the name of Class[main] as different from its title, and adds
        // it as an alias.
        if (has_internal_title(r) && aliases.empty()) aliases.push_back(r.ref.title);
        bool first = true;
        auto begin = [&](std::string_view name) {
            if (!first) out_ += ',';
            first = false;
            codec::append_json_string(out_, name);
            out_ += ':';
        };
        BUNRAKU_ASSERT(std::ranges::is_sorted(aliases));
        bool aliased = format_.literal || aliases.empty() || naming_.of(r.ref.type).composite;
        for (const ShownParameter& p : shown_parameters(r, naming_)) {
            if (p.sensitive) {
                if (secrets_ == WireSecrets::LeftOut || !p.value) continue;
                begin(p.name);
                out_ += "{\"__ptype\":\"Sensitive\",\"__pvalue\":";
                append_json_value(out_, *p.value, ValueForm::Rich, true);
                out_ += '}';
                continue;
            }
            if (p.name == "alias" && !aliased) {
                BUNRAKU_ASSERT(!aliases.empty() && !format_.literal);
                begin("alias");
                codec::append_json_strings(out_, aliases);
                aliased = true;
                continue;
            }
            begin(p.name);
            if (!p.value) {
                codec::append_json_string(out_, p.text);
            } else if (p.value->is_array() && is_unordered(p.name)) {
                write_sorted(*p.value);
            } else {
                append_json_parameter(out_, p.name, *p.value, format_.values);
            }
        }
        if (!aliased) {
            begin("alias");
            codec::append_json_strings(out_, aliases);
        }
    }

    void flatten(const Value& v, std::vector<std::pair<std::string, const Value*>>& into) {
        base::step();
        if (v.is_array()) {
            for (const Value& item : v.as_array()) flatten(item, into);
        } else if (!v.is_undef()) {
            into.emplace_back(plain_text(v), &v);
        }
    }

    void write_sorted(const Value& v) {
        base::step();
        std::vector<std::pair<std::string, const Value*>> items;
        flatten(v, items);
        std::stable_sort(items.begin(), items.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        BUNRAKU_ASSERT(v.is_array());
        out_ += '[';
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) out_ += ',';
            append_json_value(out_, *items[i].second, format_.values);
        }
        out_ += ']';
    }

    const WireFormat& format_;
    const Catalog& catalog_;
    const WireEnvelope& envelope_;
    const Naming& naming_;
    const std::vector<Relation>& relations_;
    const WireSecrets secrets_;
    std::string out_;
};

}  // namespace

base::Result<std::string> write_wire(int version, const Catalog& catalog,
                                     const WireEnvelope& envelope, const Naming& naming,
                                     WireSecrets secrets) {
    const WireFormat* format = find_wire_format(version);
    if (!format) {
        return base::failure(fmt::format("Unknown catalog wire format version {}", version));
    }
    std::vector<Relation> related = BUNRAKU_TRY(relations(catalog, naming));
    try {
        return WireWriter(*format, catalog, envelope, naming, related, secrets).run();
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

}  // namespace bunraku::catalog
