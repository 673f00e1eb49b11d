// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/explain.h"

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "core/value/text.h"

namespace bunraku::hiera {
namespace {

using Kind = ExplainNode::Kind;
using Event = ExplainNode::Event;

/// Prints scalars like Ruby's inspect, and collections over several lines.
void dump_value(std::string& out, const std::string& indent, const Value& v) {
    base::step();
    const std::string inner = indent + "  ";
    if (v.is_hash()) {
        out += '{';
        const char* separator = "\n";
        for (const auto& e : v.as_hash()) {
            out += separator + inner;
            dump_value(out, inner, e.key);
            out += " => ";
            dump_value(out, inner, e.value);
            separator = ",\n";
        }
        if (!v.as_hash().empty()) out += "\n" + indent;
        out += '}';
    } else if (v.is_array()) {
        out += '[';
        const char* separator = "\n";
        for (const Value& item : v.as_array()) {
            out += separator + inner;
            dump_value(out, inner, item);
            separator = ",\n";
        }
        if (!v.as_array().empty()) out += "\n" + indent;
        out += ']';
    } else {
        value::print_inspect(out, v);
    }
}

void dump_texts(std::string& out, const std::string& indent, const ExplainNode& n) {
    for (const auto& t : n.texts) out += indent + t + "\n";
}

void dump_outcome(std::string& out, const std::string& indent, const ExplainNode& n) {
    if (n.event == Event::NotFound) {
        out += indent + "No such key: \"" + n.key + "\"\n";
    } else if (n.event == Event::Found || n.event == Event::FoundInOverrides ||
               n.event == Event::FoundInDefaults) {
        out += indent + "Found key: \"" + n.key + "\" value: ";
        dump_value(out, indent, n.value);
        if (n.event == Event::FoundInOverrides) out += " in overrides";
        if (n.event == Event::FoundInDefaults) out += " in defaults";
        out += "\n";
    }
    dump_texts(out, indent, n);
}

void dump(std::string& out, const std::string& indent, const ExplainNode& n);

void dump_branches(std::string& out, const std::string& indent, const ExplainNode& n) {
    for (const auto& b : n.branches) dump(out, indent, *b);
}

void dump(std::string& out, const std::string& indent, const ExplainNode& n) {
    const std::string inner = indent + "  ";
    switch (n.kind) {
        case Kind::Root:
            dump_branches(out, indent, n);
            dump_texts(out, indent, n);
            break;
        case Kind::Top:
            out += indent + "Searching for \"" + n.name + "\"\n";
            dump_branches(out, inner, n);
            break;
        case Kind::InvalidKey: out += indent + "Invalid key \"" + n.name + "\"\n"; break;
        case Kind::MergeSource:
            out += indent + "Using merge options from \"" + n.name + "\" hash\n";
            break;
        case Kind::Module:
            out += indent +
                   (n.event == Event::ModuleNotFound ? "Module \""
                                                     : "Module data provider for module \"") +
                   n.name + "\" not found\n";
            break;
        case Kind::Interpolate:
            out += indent + "Interpolation on \"" + n.name + "\"\n";
            dump_branches(out, inner, n);
            break;
        case Kind::Merge:
            if (n.branches.empty()) break;
            if (n.branches.size() == 1) {
                dump(out, indent, *n.branches[0]);
                break;
            }
            out += indent + "Merge strategy " + n.name + "\n";
            if (n.options.is_hash() && !n.options.as_hash().empty()) {
                out += inner + "Options: ";
                dump_value(out, inner, n.options);
                out += "\n";
            }
            dump_branches(out, inner, n);
            if (n.event == Event::Result) {
                out += inner + "Merged result: ";
                dump_value(out, inner, n.value);
                out += "\n";
            }
            break;
        case Kind::Global:
            out += indent + "Data Binding \"" + n.name + "\"\n";
            dump_branches(out, inner, n);
            dump_outcome(out, inner, n);
            break;
        case Kind::DataProvider:
            out += indent + n.name + "\n";
            if (!n.original.empty()) out += inner + "Using configuration \"" + n.original + "\"\n";
            dump_branches(out, inner, n);
            dump_outcome(out, inner, n);
            break;
        case Kind::Path:
        case Kind::Uri: {
            const bool path = n.kind == Kind::Path;
            out += indent + (path ? "Path \"" : "URI \"") + n.name + "\"\n";
            out += inner + (path ? "Original path: \"" : "Original uri: \"") + n.original + "\"\n";
            dump_branches(out, inner, n);
            if (n.event == Event::LocationNotFound)
                out += inner + (path ? "Path" : "URI") + " not found\n";
            dump_outcome(out, inner, n);
            break;
        }
        case Kind::SubLookup:
            out += indent + "Sub key: \"" + n.name + "\"\n";
            dump_branches(out, inner, n);
            dump_outcome(out, inner, n);
            break;
        case Kind::Segment: dump_outcome(out, indent, n); break;
        case Kind::Scope:
            out += indent + n.name + "\n";
            dump_branches(out, inner, n);
            dump_outcome(out, inner, n);
            break;
    }
}

}  // namespace

void Explainer::Step::enter(ExplainNode::Kind kind, std::string_view name,
                            std::string_view original) {
    auto node = std::make_unique<ExplainNode>();
    node->kind = kind;
    node->name = std::string(name);
    node->original = std::string(original);
    BUNRAKU_ASSERT(!node_ && explainer_->current_);
    node->parent = explainer_->current_;
    node_ = node.get();
    explainer_->current_->branches.push_back(std::move(node));
    explainer_->current_ = node_;
}

void Explainer::Step::leave() {
    BUNRAKU_ASSERT(explainer_->current_ == node_ && node_->parent);
    explainer_->current_ = node_->parent;
}

void Explainer::found(std::string_view key, const Value& v, ExplainNode::Event event) {
    current_->key = std::string(key);
    current_->value = v;
    current_->event = event;
}

void Explainer::not_found(std::string_view key) {
    current_->key = std::string(key);
    current_->event = Event::NotFound;
}

void Explainer::result(const Value& v) {
    current_->value = v;
    current_->event = Event::Result;
}

void Explainer::merge_source(std::string_view source) {
    auto node = std::make_unique<ExplainNode>();
    node->kind = Kind::MergeSource;
    node->name = std::string(source);
    node->parent = current_;
    current_->branches.push_back(std::move(node));
}

void Explainer::module(std::string_view name, ExplainNode::Event event) {
    Step step(this, Kind::Module, std::string(name));
    current_->event = event;
}

namespace {

std::string_view event_name(Event event) {
    switch (event) {
        case Event::Found: return "\1found";
        case Event::FoundInOverrides: return "\1found_in_overrides";
        case Event::FoundInDefaults: return "\1found_in_defaults";
        case Event::NotFound: return "\1not_found";
        case Event::LocationNotFound: return "\1location_not_found";
        case Event::ModuleNotFound: return "\1module_not_found";
        case Event::ModuleProviderNotFound: return "\1module_provider_not_found";
        case Event::Result: return "\1result";
        case Event::None: break;
    }
    return "";
}

std::string_view type_name(Kind kind) {
    switch (kind) {
        case Kind::Root:
        case Kind::Top: return "\1root";
        case Kind::InvalidKey: return "\1invalid_key";
        case Kind::MergeSource: return "\1merge_source";
        case Kind::Module: return "\1module";
        case Kind::Interpolate: return "\1interpolate";
        case Kind::Merge: return "\1merge";
        case Kind::Global: return "\1global";
        case Kind::DataProvider: return "\1data_provider";
        case Kind::Path: return "\1path";
        case Kind::Uri: return "\1uri";
        case Kind::SubLookup: return "\1sub_key";
        case Kind::Segment: return "\1segment";
        case Kind::Scope: return "\1scope";
    }
    return "";
}

Value to_hash(base::Arena& arena, const ExplainNode& n) {
    base::step();
    if (n.kind == Kind::Merge && n.branches.size() == 1) return to_hash(arena, *n.branches[0]);
    value::HashBuilder out(arena);
    auto text = [&](std::string_view s) { return value::make_string(arena, s); };
    if (n.kind == Kind::MergeSource) {
        out.set("\1type", Value::string(type_name(n.kind)));
        out.set("\1merge_source", text(n.name));
        return out.build();
    }
    if (!n.branches.empty()) {
        std::vector<Value> branches;
        for (const auto& b : n.branches) branches.push_back(to_hash(arena, *b));
        out.set("\1branches", value::make_array(arena, branches));
    }
    if (n.kind == Kind::Root) return out.build();
    const Event e = n.event;
    if (n.kind == Kind::Top || n.kind == Kind::InvalidKey) {
        out.set("\1key", text(n.name));
    } else if (e == Event::Found || e == Event::FoundInOverrides || e == Event::FoundInDefaults ||
               e == Event::NotFound) {
        out.set("\1key", text(n.key));
    }
    if (e == Event::Found || e == Event::FoundInOverrides || e == Event::FoundInDefaults ||
        e == Event::Result) {
        out.set("\1value", n.value);
    }
    if (e != Event::None) out.set("\1event", Value::string(event_name(e)));
    if (!n.texts.empty()) {
        std::vector<Value> texts;
        for (const auto& t : n.texts) texts.push_back(text(t));
        out.set("\1texts", value::make_array(arena, texts));
    }
    out.set("\1type", Value::string(type_name(n.kind)));
    switch (n.kind) {
        case Kind::Interpolate: out.set("\1expression", text(n.name)); break;
        case Kind::Merge:
            out.set("\1merge", text("\1" + n.name));
            if (n.options.is_hash() && !n.options.as_hash().empty())
                out.set("\1options", n.options);
            break;
        case Kind::Global:
        case Kind::Scope: out.set("\1name", text(n.name)); break;
        case Kind::DataProvider: {
            out.set("\1name", text(n.name));
            if (!n.original.empty()) out.set("\1configuration_path", text(n.original));
            constexpr std::string_view kModule = "Module \"";
            if (n.name.starts_with(kModule)) {
                const auto end = n.name.find('"', kModule.size());
                out.set("\1module", text(std::string_view(n.name).substr(kModule.size(),
                                                                         end - kModule.size())));
            }
            break;
        }
        case Kind::Path:
        case Kind::Uri: {
            const bool path = n.kind == Kind::Path;
            out.set(path ? "\1original_path" : "\1original_uri", text(n.original));
            out.set(path ? "\1path" : "\1uri", text(n.name));
            break;
        }
        default: break;
    }
    return out.build();
}

}  // namespace

Value Explainer::to_data(base::Arena& arena) const {
    return to_hash(arena, root_.branches.size() == 1 ? *root_.branches[0] : root_);
}

std::string Explainer::to_string() const {
    std::string out;
    dump(out, "", root_);
    return out;
}

}  // namespace bunraku::hiera
