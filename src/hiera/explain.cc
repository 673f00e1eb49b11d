#include "hiera/explain.h"

namespace bunraku::hiera {
namespace {

using Kind = ExplainNode::Kind;
using Event = ExplainNode::Event;

/// Ruby's inspect of a scalar, collections over several lines.
void dump_value(std::string& out, const std::string& indent, const Value& v) {
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
    } else if (v.is_string()) {
        out += '"';
        for (char c : v.as_string()) {
            if (c == '"' || c == '\\') out += '\\';
            if (c == '\n') {
                out += "\\n";
            } else if (c == '\t') {
                out += "\\t";
            } else {
                out += c;
            }
        }
        out += '"';
    } else if (v.is_undef()) {
        out += "nil";
    } else {
        value::print(out, v);
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

Explainer::Step::Step(Explainer* explainer, ExplainNode::Kind kind, std::string name,
                      std::string original)
    : explainer_(explainer) {
    if (!explainer_) return;
    auto node = std::make_unique<ExplainNode>();
    node->kind = kind;
    node->name = std::move(name);
    node->original = std::move(original);
    node->parent = explainer_->current_;
    node_ = node.get();
    explainer_->current_->branches.push_back(std::move(node));
    explainer_->current_ = node_;
}

Explainer::Step::~Step() {
    if (explainer_) explainer_->current_ = node_->parent;
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

std::string Explainer::to_string() const {
    std::string out;
    dump(out, "", root_);
    return out;
}

}  // namespace bunraku::hiera
