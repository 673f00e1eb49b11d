// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/site_values.h"

#include <utility>

#include "compile/site/fleet_facts.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/overlaid_files.h"
#include "language/environment/regular_files.h"
#include "language/hiera/errors.h"
#include "language/hiera/explain.h"

namespace bunraku::lsp {

namespace {

using value::Value;

constexpr int kMaxFactDepth = 20;

site::Options options_for(base::LogSink& log) {
    site::Options options;
    options.log = &log;
    return options;
}

std::string value_text(base::Arena& arena, const Value& v) {
    value::RichDataOptions rich;
    return value::to_json(value::to_rich_data(arena, v, rich));
}

/// Returns the last file in which the lookup found the key.
const hiera::ExplainNode* found_path(const hiera::ExplainNode& node) {
    const hiera::ExplainNode* found = nullptr;
    if (node.kind == hiera::ExplainNode::Kind::Path &&
        node.event == hiera::ExplainNode::Event::Found)
        found = &node;
    for (const auto& branch : node.branches) {
        if (branch->kind == hiera::ExplainNode::Kind::SubLookup ||
            branch->kind == hiera::ExplainNode::Kind::Interpolate)
            continue;
        if (const auto* inner = found_path(*branch)) {
            found = inner;
            break;
        }
    }
    return found;
}

void add_fact_paths(const Value& facts, const std::string& prefix, int depth,
                    std::vector<std::string>& out) {
    if (!facts.is_hash() || depth > kMaxFactDepth) return;
    for (const auto& entry : facts.as_hash()) {
        if (!entry.key.is_string()) continue;
        const std::string path = prefix + std::string(entry.key.as_string());
        out.push_back(path);
        add_fact_paths(entry.value, path + ".", depth + 1, out);
    }
}

}  // namespace

SiteValues::SiteValues(config::Settings settings, base::LogSink& log)
    : log_(log), site_(std::move(settings), options_for(log)) {}

void SiteValues::choose(const std::string& node, const std::string& facts) {
    node_ = node;
    source_ = facts;
    loaded_ = false;
    facts_ = Value::undef();
    session_.reset();
    failed_ = false;
    known_.clear();
    load_facts();
}

void SiteValues::load_facts() {
    if (std::exchange(loaded_, true) || source_.empty()) return;
    try {
        std::vector<std::string> wanted;
        if (!node_.empty()) wanted.push_back(node_);
        auto fleet = site::fleet_facts(arena_, site_, source_, wanted, log_);
        if (fleet.empty()) return;
        const auto chosen = site::with_facts(arena_, fleet.front());
        node_ = chosen.name;
        facts_ = chosen.facts;
    } catch (const base::PuppetError& error) {
        log_.log(base::Level::Warning, "Cannot read the facts: " + error.full_text());
    }
}

void SiteValues::use(const std::string& environment,
                     const std::map<std::string, std::string>& unsaved) {
    if (environment == environment_ && unsaved == unsaved_) return;
    environment_ = environment;
    unsaved_ = unsaved;
    session_.reset();
    failed_ = false;
    known_.clear();
}

site::Session* SiteValues::session() {
    if (session_ || failed_ || node_.empty() || environment_.empty()) return session_.get();
    try {
        site_.clear();
        site::NodeRequest request;
        request.node = node_;
        request.facts.values = facts_;
        if (facts_.is_undef()) request.facts.values = value::HashBuilder(arena_).build();
        request.classification = site::Unclassified{};
        request.overlay.set("node_terminus", "plain");
        request.sources.directory = environment_;
        request.sources.no_manifest = true;
        const auto files = environment::regular_files(environment::Unreadable::Error);
        request.sources.files =
            environment::overlaid_files(files, files, {.paths = {}, .texts = unsaved_});
        session_ = site_.session(std::move(request), log_);
    } catch (const base::PuppetError& error) {
        failed_ = true;
        log_.log(base::Level::Warning, "Cannot look up values: " + error.full_text());
    }
    return session_.get();
}

std::optional<NodeValue> SiteValues::look_up(site::Session& session, std::string_view key) const {
    std::optional<NodeValue> out;
    session.visit(false, [&](evaluator::Interpreter& in) {
        hiera::Explainer explainer;
        hiera::Lookup::Question question;
        question.names = {std::string(key)};
        try {
            const Value found = session.lookup().ask(in, in.top_scope(), question, &explainer);
            out = NodeValue{value_text(in.arena(), found), ""};
            if (const auto* path = found_path(explainer.root())) out->origin = path->name;
        } catch (const hiera::LookupError&) {
            // No level has the key.
        }
    });
    return out;
}

std::optional<NodeValue> SiteValues::hiera(std::string_view key) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    site::Session* prepared = session();
    if (!prepared) return std::nullopt;
    std::optional<NodeValue> value;
    try {
        value = look_up(*prepared, key);
    } catch (const base::PuppetError&) {
        // The data or hiera.yaml has an error, which the diagnostics of the file report.
    }
    if (value && value->origin.starts_with(environment_ + "/"))
        value->origin.erase(0, environment_.size() + 1);
    known_.emplace(std::string(key), value);
    return value;
}

std::optional<NodeValue> SiteValues::fact(std::string_view path) {
    load_facts();
    const Value* at = &facts_;
    for (const std::string_view part : base::split(path, '.')) {
        at = at->is_hash() ? at->as_hash().find(part) : nullptr;
        if (!at) return std::nullopt;
    }
    base::Arena arena;
    return NodeValue{value_text(arena, *at), ""};
}

std::vector<std::string> SiteValues::facts() {
    load_facts();
    std::vector<std::string> out;
    add_fact_paths(facts_, "", 0, out);
    return out;
}

}  // namespace bunraku::lsp
