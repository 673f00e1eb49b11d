// SPDX-License-Identifier: Apache-2.0
#include "services/console/code_states.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/fleet_selection.h"
#include "compile/insight/inputs.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/config/compatibility.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/commit_files.h"
#include "language/environment/overlaid_files.h"
#include "store/query/ast.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostName = 100, kMostRevision = 200;
constexpr std::chrono::seconds kMostCompile{60};
constexpr std::size_t kMostMemory = std::size_t{1} << 30;

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/// Reports whether an environment may have this name. Such a name is no path.
bool is_environment_name(std::string_view text) {
    return !text.empty() && text.size() <= kMostName && std::ranges::all_of(text, is_word);
}
/// Reports whether a commit, branch or tag may have this name. Such a name is no option of git.
bool is_revision(std::string_view text) {
    return !text.empty() && text.size() <= kMostRevision && text[0] != '-' &&
           std::ranges::all_of(text, [](char c) {
               return is_word(c) || std::string_view("-./~^+#").find(c) != std::string_view::npos;
           });
}

}  // namespace

std::vector<std::string> CodeStates::environments() const {
    std::vector<std::string> out;
    const auto& files = *environment::disk_files();
    for (const auto& folder : context_.settings.list("environmentpath"))
        for (auto& name : files.list(folder))
            if (is_environment_name(name) && files.stat(folder + "/" + name).directory)
                out.push_back(std::move(name));
    std::ranges::sort(out);
    const auto twice = std::ranges::unique(out);
    out.erase(twice.begin(), twice.end());
    return out;
}

std::string CodeStates::version_of(const std::string& folder) {
    const auto now = context_.runtime.now_ms();
    {
        const std::lock_guard lock(mutex_);
        const auto it = versions_.find(folder);
        if (it != versions_.end() && now - it->second.made_ms < kVersionMs) return it->second.text;
    }
    codec::Digest digest(codec::DigestKind::Sha256);
    std::vector<std::string> paths;
    const auto& files = *environment::disk_files();
    insight::files_below(files, folder, paths);
    std::ranges::sort(paths);
    for (const auto& path : paths) {
        const auto stamp = files.stat(path);
        digest.update(fmt::format("{}\n{} {} {}\n", path, stamp.mtime_ns, stamp.size, stamp.inode));
    }
    auto text = digest.hex();
    const std::lock_guard lock(mutex_);
    if (versions_.size() >= kMostName) versions_.clear();
    versions_[folder] = {text, now};
    return text;
}

Result<CodeState> CodeStates::commit(CodeState state) {
    if (!is_revision(state.revision))
        return base::failure(
            fmt::format("'{}' is not the name of a commit, branch or tag.", state.revision));
    const auto text = state.text();
    const auto now = context_.runtime.now_ms();
    {
        const std::lock_guard lock(mutex_);
        const auto it = commits_.find(text);
        if (it != commits_.end() && now - it->second.made_ms < kVersionMs) return it->second.state;
    }
    auto files = environment::CommitFiles::open(state.folder, state.revision);
    if (!files)
        return base::failure(fmt::format("There is no commit '{}' of the environment {}.",
                                         state.revision, state.environment));
    state.version = (*files)->version();
    state.files = std::move(*files);
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kMostCommits = 20;
    if (commits_.size() >= kMostCommits) commits_.clear();
    commits_[text] = {state, now};
    return state;
}

Result<CodeState> CodeStates::find(std::string_view text) {
    CodeState out;
    const auto at = text.find('@');
    out.environment = text.substr(0, at);
    if (!is_environment_name(out.environment))
        return base::failure(fmt::format("'{}' is not the name of an environment.", text));
    try {
        out.folder =
            insight::FleetSelection().environment_folder(out.environment, context_.settings);
        if (at == std::string_view::npos) {
            out.version = version_of(out.folder);
            return out;
        }
        out.revision = text.substr(at + 1);
        return commit(std::move(out));
    } catch (const base::PuppetError&) {
        return base::failure(fmt::format("There is no environment '{}'.", out.environment));
    }
}

std::string CodeStates::module_stamp(const std::vector<std::string>& environments) const {
    codec::Digest digest(codec::DigestKind::Sha256);
    const auto& files = *environment::disk_files();
    for (const auto& folder : context_.settings.list("environmentpath")) {
        for (const auto& name : environments) {
            digest.update(name);
            for (const char* part : {"", "/environment.conf", "/Puppetfile", "/modules", "/site"}) {
                const auto stamp = files.stat(folder + "/" + name + part);
                digest.update(fmt::format(" {} {}", stamp.mtime_ns, stamp.inode));
            }
        }
    }
    return digest.hex();
}

insight::State CodeStates::state_of(const CodeState& state, const CodeState& as) {
    auto files = state.files ? state.files : environment::disk_files();
    if (state.folder != as.folder)
        files = environment::mapped_files(std::move(files), as.folder, state.folder);
    insight::State out;
    out.label = state.text();
    out.request = [files = std::move(files), directory = as.folder, name = as.environment] {
        site::NodeRequest request;
        request.arena = std::make_shared<base::Arena>(256 * 1024);
        request.overlay.set("environment", name);
        request.sources.directory = directory;
        request.sources.files = files;
        request.server_facts.kind = site::ServerFacts::Kind::Fixed;
        request.time = kMostCompile;
        return request;
    };
    return out;
}

std::unique_ptr<site::Site> CodeStates::background_site(base::LogSink& log) const {
    auto settings = context_.settings;
    // As for the role compiler: there is always a store.
    if (!settings.is_set("storeconfigs")) settings.set("storeconfigs", "true");
    site::Options options;
    options.log = &log;
    options.user_agent = fmt::format(
        "Puppet/{} Bunraku/{}", config::puppet_version(settings.compatibility()), context_.version);
    options.threads = 1;
    options.ruby_children = 1;
    options.memory = kMostMemory;
    options.store.database = context_.database;
    if (options.store.database.starts_with("sqlite:")) options.store.database.erase(0, 7);
    options.store.network = &context_.network;
    return std::make_unique<site::Site>(std::move(settings), std::move(options));
}

namespace {

/// Returns the facts in a row of factsets.
value::Value facts_of_row(base::Arena& arena, const value::Value& row) {
    const auto* data = value::at(row, "facts");
    if (data) data = value::at(*data, "data");
    if (!data || !data->is_array()) return value::Value::undef();
    value::HashBuilder out(arena, data->as_array().size());
    for (const auto& fact : data->as_array()) {
        const auto *name = value::at(fact, "name"), *value = value::at(fact, "value");
        if (name && value) out.set(*name, *value);
    }
    return out.build();
}

/// Runs a query, and returns an error for an invalid one.
Result<std::string> answer_of(store::QueryEngine& queries, const std::string& query) {
    try {
        return queries.run_text(query);
    } catch (const query::QueryError& error) {
        return base::failure(error.message);
    }
}

}  // namespace

Result<std::vector<site::FleetNode>> facts_of_nodes(store::QueryEngine& queries, base::Arena& arena,
                                                    std::span<const std::string> names) {
    constexpr std::size_t kAtOnce = 200;  // an answer is in memory as a text, too
    std::vector<site::FleetNode> out;
    for (std::size_t i = 0; i < names.size(); i += kAtOnce) {
        std::string list;
        for (const auto& name : names.subspan(i, std::min(kAtOnce, names.size() - i)))
            list += (list.empty() ? "" : ",") + codec::json_string(name);
        const auto text = BUNRAKU_TRY(answer_of(
            queries, fmt::format(R"(["from","factsets",["extract",["certname","facts"],)"
                                 R"(["in","certname",["array",[{}]]]],["order_by",["certname"]]])",
                                 list)));
        const auto rows = BUNRAKU_TRY(value::parse_json(arena, text));
        if (!rows.is_array()) return base::failure("The query for facts did not return a list");
        for (const auto& row : rows.as_array()) {
            const auto known = site::split_trusted(arena, facts_of_row(arena, row));
            if (!known.facts.is_hash() || known.facts.as_hash().empty()) continue;
            out.push_back({.name = value::text_at(row, "certname"),
                           .facts = known.facts,
                           .trusted = known.trusted,
                           .file = {},
                           .stamp = {}});
        }
    }
    return out;
}

std::vector<std::string> sample_of(std::vector<std::string> names, std::size_t most) {
    if (names.size() <= most) return names;
    std::ranges::sort(names);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < most; ++i) out.push_back(std::move(names[i * names.size() / most]));
    return out;
}

}  // namespace bunraku::console
