// SPDX-License-Identifier: Apache-2.0
// Tests that the trace of a compile is complete. The program changes the inputs at random. If the
// trace predicts that a change does not affect a node, the program compiles the node anyway. The
// catalog must be the same (docs/design/0054).
//
//   mutation_oracle [--count N] [--seconds N] [--seed S] [--settle PERCENT] [--group N]
//                   [--answers] --below FOLDER CASES
//
// CASES contains one case per line, with fields separated by tabs: node, file of facts (JSON),
// modulepath, folder of the environment (or empty), hiera.yaml of the global layer (or empty),
// manifest (or empty), strict, strict_variables. The program changes files only below FOLDER and
// restores them. The changes are on the disk, so Ruby reads them too. The exit status is 1 if a
// catalog changed although the trace predicted that it would not.
//
// Changes that do not affect a node are compiled together in groups of up to N. If the catalog
// differs, the program bisects the group to find the change that caused the difference.
//
// With --answers, the program applies and reverts changes in sequence. It compiles the nodes with
// and without cached results of Ruby code (docs/design/0250). Catalogs, errors and reads must be
// the same.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <sstream>
#include <thread>
#include <unordered_map>

#include "compile/compiler/change.h"
#include "compile/compiler/compile.h"
#include "core/base/number.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/hiera/lookup.h"
#include "language/ruby/answers.h"
#include "language/template/host.h"
#include "language/template/ruby_session.h"
#include "mutations.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::mutation {
namespace {

using compiler::InputsSnapshot;
using environment::Read;
using value::Value;
using Strings = std::vector<std::string>;
using Item = environment::ReadTable::Item;

enum class Kind : std::uint8_t {
    Manifest,
    Template,
    Ruby,
    Data,
    OtherFile,
    Present,
    Gone,
    Fact,
    Setting,
    Variable,
    Export,
};
struct KindInfo {
    std::string_view name;
    unsigned weight;  // percent
};
constexpr std::array<KindInfo, 11> kKinds = {{{"manifest", 20},
                                              {"template", 13},
                                              {"Ruby file", 18},
                                              {"Hiera data", 12},
                                              {"other file", 4},
                                              {"made present", 9},
                                              {"gone", 4},
                                              {"fact", 15},
                                              {"setting", 1},
                                              {"variable", 2},
                                              {"export", 2}}};

struct Case {
    std::string node, facts, modulepath, directory, hiera, manifest, strict;
    bool strict_variables = false;
};

Strings split(const std::string& text, char at) {
    Strings out(1);
    for (const char c : text) {
        if (c == at) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

Kind kind_of(std::string_view path) {
    if (path.ends_with(".pp")) return Kind::Manifest;
    if (path.ends_with(".rb")) return Kind::Ruby;
    if (path.ends_with(".epp") || path.ends_with(".erb") ||
        path.find("/templates/") != std::string_view::npos)
        return Kind::Template;
    if (path.ends_with("/metadata.json")) return Kind::OtherFile;
    for (const auto* end : {".yaml", ".yml", ".json", ".conf", ".eyaml"})
        if (path.ends_with(end)) return Kind::Data;
    return Kind::OtherFile;
}

/// All inputs of a compile other than files.
struct State {
    std::string facts;
    std::map<std::string, std::string, std::less<>> settings{{"codedir", "/etc/puppetlabs/code"},
                                                             {"confdir", "/etc/puppetlabs/puppet"}};
    std::map<std::string, std::string> variables;
    /// Maps a type to the content of the resources that another node exports.
    std::map<std::string, std::string, std::less<>> exports;
};

/// Exports one resource of each requested type.
class Exports final : public compiler::ExportedSource {
public:
    explicit Exports(const State& state) : state_(state) {}
    base::Result<std::vector<compiler::ExportedResource>> find(
        std::string_view type, const compiler::CollectorQuery*, std::string_view,
        base::Arena& arena, const value::TypedFactory&) override {
        std::vector<compiler::ExportedResource> out;
        const auto it = state_.exports.find(type);
        if (it == state_.exports.end()) return out;
        auto& made = out.emplace_back();
        made.certname = "another.example.org";
        made.resource.ref.type = type;
        made.resource.ref.title = "exported by another";
        made.resource.parameters.push_back({"tag", value::make_string(arena, it->second)});
        return out;
    }

private:
    const State& state_;
};

struct Mutation {
    Kind kind{};
    std::string what;
    /// path of the changed file; its new content is `text`, nullopt if the file is removed
    std::string path;
    std::optional<std::string> text;
    std::function<void(State&)> change;
};

/// A snapshot of inputs, with the arena and the state that it refers to.
struct Place {
    base::Arena arena{64 * 1024};
    State state;
    InputsSnapshot world;
};

/// One node, with its facts and its last catalog.
class Subject {
public:
    Subject(Case c, std::string below) : case_(std::move(c)), below_(std::move(below) + "/") {
        state_.facts = environment::disk_files()->read(case_.facts).value_or("");
    }

    /// Returns false if the node does not compile or gives different catalogs.
    bool start() {
        base_ = open(state_);
        environment::Trace first(base_->world.environment->reads());
        catalog_ = compile(*base_, &first);
        why_ = catalog_;
        if (catalog_.starts_with("error")) return false;
        uses_ruby_ =
            templates::RubySession::pool_of(*base_->world.environment, nullptr)->profile().starts >
            0;
        for (const auto& [item, answer] : first.items())
            if (item.kind == Read::Export) state_.exports[std::string(item.name)] = "first";
        if (!state_.exports.empty()) {
            base_ = open(state_);
            catalog_ = compile(*base_, &first);
        }
        // The second trace counts: its compile finds everything that earlier compiles cached.
        trace_ = std::make_unique<environment::Trace>(base_->world.environment->reads());
        if (compile(*base_, trace_.get()) != catalog_)
            fmt::print("The second catalog differs from the first one.\n");
        std::set<std::string> told;
        for (const auto& [item, answer] : trace_->items()) told.insert(text_of(item));
        for (const auto& [item, answer] : first.items())
            if (!told.contains(text_of(item)))
                fmt::print("{}: not of the second compile: {}\n", case_.node, text_of(item));
        for (const auto& [item, answer] : trace_->items())
            answers_.emplace_back(item, compiler::answer_to(base_->world, item));
        index_reads();
        for (const auto& item : compiler::Change::unseen(*trace_))
            if (item.kind != Read::Export)
                unseen_ += fmt::format(" {}({})", environment::read_name(item.kind), item.name);
        const auto again = open(state_);
        if (compile(*again, nullptr) != catalog_) {
            after_ = compile(*again, nullptr);
            why_ = "not always the same:" + unseen_ + "\n" + parting();
            return false;
        }
        collect_targets();
        return true;
    }

    const Case& its_case() const { return case_; }
    const State& state() const { return state_; }

    /// Compiles with and without cached results of Ruby code. Returns how the catalogs or reads
    /// differ, or an empty string if they do not.
    std::string difference_without_cache(const std::shared_ptr<ruby::Answers>& answers,
                                         const State& state) {
        const auto catalog_of = [&](const std::shared_ptr<ruby::Answers>& kept,
                                    std::set<std::string>& reads) {
            const auto place = open(state);
            if (place->world.environment)
                place->world.environment->attached<ruby::Answers>([&] { return kept; });
            const auto table = base_->world.environment->reads();
            environment::Trace trace(table);
            auto catalog = compile(*place, &trace);
            // Ruby's suggestions after "Did you mean?" depend on the code that it has loaded.
            const auto proposed = catalog.find("\nDid you mean?");
            if (catalog.starts_with("error")) catalog = catalog.substr(0, proposed);
            for (const auto& [item, answer] : trace.items()) reads.insert(text_of(item));
            return catalog;
        };
        std::set<std::string> made, given;
        catalog_ = catalog_of(nullptr, made);
        after_ = catalog_of(answers, given);
        if (catalog_ != after_) {
            // The change may have made the catalog nondeterministic.
            std::set<std::string> again;
            return catalog_of(nullptr, again) == catalog_ ? parting() : "";
        }
        if (catalog_.starts_with("error")) return {};
        std::string out;
        for (const auto& read : made)
            if (!given.contains(read)) out += fmt::format("  not read: {}\n", read);
        return out;
    }
    const std::string& why() const { return why_; }
    const std::string& unseen() const { return unseen_; }
    bool uses_ruby() const { return uses_ruby_; }
    std::size_t reads() const { return answers_.size(); }
    std::size_t bytes() const { return trace_->pack().size(); }

    /// Returns a random change of the inputs, or nullopt if this node has no input of the chosen
    /// kind.
    std::optional<Mutation> draw(Random& random) const {
        auto of_hundred = random() % 100;
        std::size_t at = 0;
        while (of_hundred >= kKinds[at].weight) of_hundred -= kKinds[at++].weight;
        Mutation out;
        out.kind = static_cast<Kind>(at);
        switch (out.kind) {
            case Kind::Manifest:
            case Kind::Template:
            case Kind::Ruby:
            case Kind::Data:
            case Kind::OtherFile: {
                out.path = pick(random, random() % 10 < 7 ? read_[at] : near_[at]);
                if (out.path.empty()) return std::nullopt;
                out.text = environment::disk_files()->read(out.path).value_or("");
                out.what = edit(random, out.path, *out.text) + " in " + out.path;
                break;
            }
            case Kind::Present:
                out.path = pick(random, random() % 4 ? absent_ : invented_);
                if (out.path.empty()) return std::nullopt;
                out.text = invented(random, out.path, keys_);
                out.what = "new: " + out.path;
                break;
            case Kind::Gone:
                out.path = pick(random, (random() % 4 ? read_ : near_)[random() % 5]);
                if (out.path.empty()) return std::nullopt;
                out.what = "gone: " + out.path;
                break;
            case Kind::Fact: {
                const auto seed = random();
                auto change = [this, seed](State& state) {
                    Random again(seed);
                    std::string which;
                    state.facts = change_facts(again, state.facts, fact_paths_, which);
                    return which;
                };
                State tried;
                tried.facts = state_.facts;
                out.what = "fact " + change(tried);
                out.change = change;
                break;
            }
            case Kind::Setting: {
                const std::string name = random() % 2 ? "codedir" : "confdir";
                out.what = "setting " + name;
                out.change = [name](State& state) { state.settings[name] = "/elsewhere"; };
                break;
            }
            case Kind::Variable: {
                const auto name = pick(random, variables_);
                out.what = "variable " + name;
                out.change = [name](State& state) {
                    state.variables[name] = name.starts_with("L") ? "C" : "mutation";
                };
                break;
            }
            case Kind::Export: {
                Strings types{"Mutation"};
                for (const auto& [type, text] : state_.exports) types.push_back(type);
                const auto type = pick(random, types);
                out.what = "export " + type;
                out.change = [type](State& state) { state.exports[type] += "x"; };
                break;
            }
        }
        return out;
    }

    struct Outcome {
        Mutation mutation;
        bool touched = false, compiled = false, equal = false, wrong = false;
        std::string parting;
    };
    /// Tests a number of random changes and returns their outcomes.
    std::vector<Outcome> round(Random& random, std::size_t group, unsigned settle) {
        std::vector<Outcome> out;
        std::vector<std::size_t> together;
        Disturbed disk;
        auto now = open(state_);
        for (std::size_t tries = 0; out.size() < group && tries < group * 8; ++tries) {
            auto drawn = draw(random);
            if (!drawn) continue;
            const bool again = std::any_of(out.begin(), out.end(), [&](const Outcome& o) {
                return !drawn->path.empty() && (o.mutation.path == drawn->path);
            });
            if (again) continue;
            Outcome outcome;
            outcome.mutation = std::move(*drawn);
            const auto& mutation = outcome.mutation;
            const State before = now->state;
            if (mutation.change) {
                mutation.change(now->state);
                if (mutation.kind == Kind::Fact) set_facts(*now);
            } else {
                disk.put(mutation.path, mutation.text ? &*mutation.text : nullptr);
            }
            outcome.touched = touches(mutation, now->world);
            if (outcome.touched) {
                if (random() % 100 < settle) {
                    outcome.compiled = true;
                    outcome.equal = compile(*open(now->state), nullptr) == catalog_;
                }
                if (mutation.change) {
                    now->state = before;
                    if (mutation.kind == Kind::Fact) set_facts(*now);
                } else {
                    disk.restore_last();
                }
            } else {
                together.push_back(out.size());
            }
            out.push_back(std::move(outcome));
        }
        if (!together.empty()) prove(out, std::move(together), disk, now->state);
        return out;
    }

private:
    static std::string text_of(const Item& item) {
        return fmt::format("{} {} {}", environment::read_name(item.kind), item.name, item.detail);
    }
    /// Returns the first difference of the two catalogs, with its context.
    std::string parting() const {
        const auto [a, b] = std::ranges::mismatch(catalog_, after_);
        const auto at = static_cast<std::size_t>(a - catalog_.begin());
        const auto from = at < 80 ? 0 : at - 80;
        return fmt::format("  was: {}\n  is:  {}", catalog_.substr(from, 240),
                           after_.substr(std::min(from, after_.size()), 240));
    }

    std::unique_ptr<Place> open(const State& state) {
        auto out = std::make_unique<Place>();
        out->state = state;
        environment::Spec spec;
        spec.directory = case_.directory;
        if (!case_.modulepath.empty()) {
            spec.modulepath = split(case_.modulepath, ':');
            spec.modulepath_given = true;
        }
        spec.manifest = case_.manifest;
        spec.strict = syntax::ValidateOptions::Strict::Warning;
        const auto* before = base_ ? base_->world.environment.get() : nullptr;
        if (before) spec.reads = before->reads();
        auto opened = environment::Environment::open(spec, log_, before);
        InputsSnapshot& world = out->world;
        if (opened)
            world.environment = *opened;
        else
            why_ = opened.error().message;
        world.data = data_;
        set_facts(*out);
        value::HashBuilder server(out->arena);
        server.set("servername", Value::string("puppet.example.org"));
        server.set("serverip", Value::string("192.0.2.10"));
        world.server_facts = server.build();
        const State& its = out->state;
        world.setting = [&its](std::string_view name) -> std::optional<std::string> {
            if (name == "ruby_timeout") return "10";
            const auto it = its.settings.find(name);
            return it == its.settings.end() ? std::nullopt : std::optional(it->second);
        };
        world.variable = [&its](std::string_view name) -> std::optional<std::string> {
            std::string all;
            if (name == "*") {
                for (const auto& [key, text] : its.variables) all += key + "=" + text + "\n";
                return all;
            }
            const std::string key(name);
            const auto it = its.variables.find(key);
            if (it != its.variables.end()) return it->second;
            const char* text = std::getenv(key.c_str());
            return text ? std::optional<std::string>(text) : std::nullopt;
        };
        world.answer = [&its](const Item& item) -> std::optional<std::string> {
            if (item.kind != Read::Export) return std::nullopt;
            const auto it = its.exports.find(item.name);
            return it == its.exports.end() ? "" : it->second;
        };
        return out;
    }

    static void set_facts(Place& place) {
        auto parsed = value::parse_json(place.arena, place.arena.copy(place.state.facts));
        place.world.facts = parsed ? *parsed : Value::undef();
    }

    /// Returns the catalog without version and line numbers, or the error without locations.
    std::string compile(const Place& place, environment::Trace* trace) {
        const InputsSnapshot& world = place.world;
        if (!world.environment) return "error: " + why_;
        compiler::Request request;
        request.arena = std::make_shared<base::Arena>(256 * 1024);
        request.environment = world.environment;
        request.log = &log_;
        request.trace = trace;
        request.options.strict_variables = case_.strict_variables;
        request.options.strict = case_.strict == "error"     ? evaluator::Strict::Error
                                 : case_.strict == "warning" ? evaluator::Strict::Warning
                                                             : evaluator::Strict::Off;
        compiler::SystemInputs inputs("production", case_.node, world.setting);
        inputs.files = world.environment->spec().files;
        request.inputs = &inputs;
        request.node.name = case_.node;
        request.node.facts = world.facts;
        request.node.server_facts = world.server_facts;
        value::HashBuilder settings(*request.arena);
        for (const char* name : {"codedir", "confdir"})
            settings.set(name, value::make_string(*request.arena, *world.setting(name)));
        request.settings = settings.build();
        hiera::LookupOptions lookups;
        lookups.hiera_config = case_.hiera;
        hiera::Lookup lookup(world.environment, world.data, lookups);
        templates::Templates templates(world.environment);
        Exports exports(place.state);
        request.services.lookup = &lookup;
        request.services.templates = &templates;
        request.services.ruby = &templates.ruby();
        request.services.exported = &exports;
        std::map<std::string, std::optional<std::string>> variables;
        for (const auto& [name, text] : place.state.variables) {
            const char* was = std::getenv(name.c_str());
            variables[name] = was ? std::optional<std::string>(was) : std::nullopt;
            ::setenv(name.c_str(), text.c_str(), 1);
        }
        std::string out;
        try {
            auto result = compiler::compile(request);
            result.catalog->catalog_uuid.clear();
            result.catalog->version.clear();
            for (auto& resource : result.catalog->resources) resource.line = 0;
            catalog::write_agent_json(out, *result.catalog, {});
        } catch (const base::PuppetError& e) {
            out = "error: " + e.message();
        }
        for (const auto& [name, was] : variables) {
            if (was)
                ::setenv(name.c_str(), was->c_str(), 1);
            else
                ::unsetenv(name.c_str());
        }
        return out;
    }

    /// Returns the indexes of the reads whose result the change can affect; the others are not
    /// checked. A read that is missing here by mistake shows up as a wrong prediction.
    std::vector<std::size_t> affected_reads(const Mutation& mutation) const {
        const auto of = [&](Read kind) {
            const auto it = by_kind_.find(kind);
            return it == by_kind_.end() ? std::vector<std::size_t>() : it->second;
        };
        switch (mutation.kind) {
            case Kind::Fact: return of(Read::Fact);
            case Kind::Setting: return of(Read::Setting);
            case Kind::Export: return of(Read::Export);
            case Kind::Variable: {
                auto out = of(Read::Variable);
                std::ranges::move(of(Read::Data), std::back_inserter(out));
                return out;
            }
            default: break;
        }
        auto out = odd_paths_;
        for (const auto i : of(Read::Glob)) {
            const auto pattern = answers_[i].first.name;
            if (mutation.path.starts_with(pattern.substr(0, pattern.find_first_of("*?[{\\"))))
                out.push_back(i);
        }
        // The path and all its parent folders.
        std::string_view path = mutation.path;
        while (!path.empty()) {
            if (auto it = by_path_.find(path); it != by_path_.end())
                out.insert(out.end(), it->second.begin(), it->second.end());
            path = path.substr(0, path.rfind('/'));
        }
        return out;
    }

    void index_reads() {
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            const auto& read = answers_[i].first;
            by_kind_[read.kind].push_back(i);
            switch (read.kind) {
                case Read::File:
                case Read::Exists:
                case Read::Folder:
                case Read::Names:
                case Read::Definition:
                case Read::Data: break;
                default: continue;
            }
            const auto name = read.name;
            const bool plain = name.starts_with('/') && name.find("//") == name.npos &&
                               name.find("/.") == name.npos && !name.ends_with('/');
            if (plain)
                by_path_[name].push_back(i);
            else
                odd_paths_.push_back(i);
        }
    }

    bool touches(const Mutation& mutation, const InputsSnapshot& now) const {
        if (!now.environment) return true;
        return std::ranges::any_of(affected_reads(mutation), [&](std::size_t i) {
            return compiler::answer_to(now, answers_[i].first) != answers_[i].second;
        });
    }

    /// Compiles with all changes together. If the catalog differs, finds the change that caused it
    /// and continues without that change.
    void prove(std::vector<Outcome>& out, std::vector<std::size_t> together, Disturbed& disk,
               const State& all) {
        auto with = [&](std::size_t count) {
            disk.restore();
            State state = state_;
            for (std::size_t i = 0; i < count; ++i) {
                const auto& m = out[together[i]].mutation;
                if (m.change)
                    m.change(state);
                else
                    disk.put(m.path, m.text ? &*m.text : nullptr);
            }
            after_ = compile(*open(state), nullptr);
            return after_ == catalog_;
        };
        after_ = compile(*open(all), nullptr);
        bool equal = after_ == catalog_;
        while (!equal && !together.empty()) {
            std::size_t good = 0, bad = together.size();
            while (bad - good > 1) {
                const auto middle = (good + bad) / 2;
                (with(middle) ? good : bad) = middle;
            }
            if (!with(good) || with(bad)) {
                fmt::print("left out: {}: not always the same\n{}\n", case_.node, parting());
                after_ = compile(*open(state_), nullptr);
                break;
            }
            auto& found = out[together[bad - 1]];
            found.wrong = true;
            found.parting = parting();
            together.erase(together.begin() + static_cast<std::ptrdiff_t>(bad - 1));
            equal = with(together.size());
        }
        for (const auto i : together) out[i].compiled = out[i].equal = true;
    }

    void collect_targets() {
        std::array<std::set<std::string>, 5> read, near;
        std::set<std::string> absent, invented, keys, facts, modules,
            variables{"LANG", "LC_ALL", "TZ", "USER", "EDITOR", "http_proxy", "MUTATION"};
        const auto roots = split(case_.modulepath, ':');
        for (const auto& [item, answer] : answers_) {
            const std::string name(item.name);
            if (item.kind == Read::Data) keys.emplace(item.detail);
            if (item.kind == Read::Fact && !name.empty()) facts.insert(name);
            if (item.kind == Read::Variable && name != "*") variables.insert(name);
            const bool content = item.kind == Read::File || item.kind == Read::Names ||
                                 item.kind == Read::Definition || item.kind == Read::Data;
            if ((!content && item.kind != Read::Exists) || !name.starts_with(below_)) continue;
            const auto stamp = environment::disk_files()->stat(name);
            if (!stamp.exists) absent.insert(name);
            if (!stamp.exists || stamp.directory) continue;
            read[static_cast<std::size_t>(kind_of(name))].insert(name);
            if (!content) continue;
            near_folder(name.substr(0, name.rfind('/')), read, near);
            for (const auto& root : roots) {
                if (!name.starts_with(root + "/")) continue;
                const auto end = name.find('/', root.size() + 1);
                if (end != std::string::npos) modules.insert(name.substr(0, end));
            }
        }
        // All other files of modules that the compile read from, and paths of new files in them.
        for (const auto& module : modules) {
            for (const char* folder :
                 {"lib", "manifests", "templates", "functions", "types", "data", "files"}) {
                const std::filesystem::path place = module + "/" + folder;
                if (!std::filesystem::is_directory(place)) continue;
                near_folder(place, read, near);
                for (const auto& entry : std::filesystem::recursive_directory_iterator(place))
                    if (entry.is_directory()) near_folder(entry.path(), read, near);
            }
            for (const char* path :
                 {"manifests/mutation.pp", "lib/puppet/type/mutation.rb",
                  "lib/puppet/parser/functions/mutation.rb", "lib/puppet_x/mutation.rb",
                  "lib/puppet/provider/mutation/mutation.rb", "templates/mutation.erb",
                  "data/mutation.yaml", "functions/mutation.pp", "lib/facter/mutation.rb"})
                invented.insert(module + "/" + path);
        }
        auto list = [](const std::set<std::string>& from) {
            return Strings(from.begin(), from.end());
        };
        for (std::size_t i = 0; i < 5; ++i) {
            read_[i] = list(read[i]);
            near_[i] = list(near[i]);
        }
        absent_ = list(absent);
        invented_ = list(invented);
        keys_ = list(keys);
        fact_paths_ = list(facts);
        variables_ = list(variables);
    }
    static void near_folder(const std::string& folder,
                            const std::array<std::set<std::string>, 5>& read,
                            std::array<std::set<std::string>, 5>& near) {
        for (const auto& name : environment::disk_files()->list(folder)) {
            auto path = folder + "/" + name;
            const auto kind = static_cast<std::size_t>(kind_of(path));
            const auto stamp = environment::disk_files()->stat(path);
            if (stamp.exists && !stamp.directory && stamp.size < 200'000 &&
                !read[kind].contains(path))
                near[kind].insert(std::move(path));
        }
    }

    Case case_;
    std::string below_, why_, catalog_, after_, unseen_;
    bool uses_ruby_ = false;
    State state_;
    base::NullSink log_;
    std::shared_ptr<hiera::DataCache> data_ = std::make_shared<hiera::DataCache>();
    std::unique_ptr<Place> base_;
    std::unique_ptr<environment::Trace> trace_;
    std::vector<std::pair<Item, std::string>> answers_;
    std::map<Read, std::vector<std::size_t>> by_kind_;  ///< indexes into answers_
    std::unordered_map<std::string_view, std::vector<std::size_t>> by_path_;
    std::vector<std::size_t> odd_paths_;
    /// files by kind: those that the compile read, and other files of the same modules
    std::array<Strings, 5> read_, near_;
    Strings absent_, invented_, keys_, fact_paths_, variables_;
};

struct Tally {
    std::uint64_t all = 0, ruby = 0, wrong = 0, touched = 0, settled = 0, equal = 0;
    void add(const Subject::Outcome& o, bool uses_ruby) {
        ++all;
        ruby += uses_ruby;
        wrong += o.wrong;
        touched += o.touched;
        settled += o.touched && o.compiled;
        equal += o.touched && o.equal;
    }
    std::string text() const {
        return fmt::format(
            "{} ({} of nodes with Ruby): {} untouched, {} WRONG; {} touched, of {} compiled {} "
            "equal{}",
            all, ruby, all - touched, wrong, touched, settled, equal,
            settled ? fmt::format(" ({} %)", 100 * equal / settled) : "");
    }
};

/// Compiles the nodes with and without cached results of Ruby code while the inputs change. Returns
/// true if both always give the same result.
bool walk_answers(std::vector<std::unique_ptr<Subject>>& subjects, std::uint64_t count,
                  std::uint64_t seconds, std::uint64_t seed) {
    const auto answers = std::make_shared<ruby::Answers>("", ruby::Answers::Mode::On);
    Random random(seed);
    Disturbed disk;
    std::vector<Mutation> made;
    std::uint64_t compiles = 0, wrong = 0, changes = 0;
    const auto begin = std::chrono::steady_clock::now();
    auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    while (compiles < count && (seconds == 0 || passed() < static_cast<double>(seconds))) {
        if (random() % 3 == 0) {
            disk.restore();
            made.clear();
        } else if (auto drawn = subjects[random() % subjects.size()]->draw(random)) {
            ++changes;
            if (!drawn->change) disk.put(drawn->path, drawn->text ? &*drawn->text : nullptr);
            made.push_back(std::move(*drawn));
        }
        // The cache does not use files that were written a moment ago.
        if (random() % 4) std::this_thread::sleep_for(std::chrono::milliseconds(25));
        for (int i = 0; i < 2; ++i) {
            auto& subject = *subjects[random() % subjects.size()];
            State state = subject.state();
            for (const auto& mutation : made)
                if (mutation.change) mutation.change(state);
            ++compiles;
            const auto parted = subject.difference_without_cache(answers, state);
            if (parted.empty()) continue;
            ++wrong;
            fmt::print("WRONG: {}\n{}\n", subject.its_case().node, parted);
            for (const auto& mutation : made) fmt::print("  after {}\n", mutation.what);
            std::fflush(stdout);
        }
    }
    fmt::print(
        "{} nodes, {} compiles with and without cached results, {} changes, {:.0f} s (seed {}): "
        "{} WRONG\n",
        subjects.size(), compiles, changes, passed(), seed, wrong);
    return wrong == 0;
}

int run(int argc, char** argv) {
    std::uint64_t count = 1000, seed = 1, group = 16, seconds = 0;
    unsigned settle = 5;
    std::string path, below;
    bool answers = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        auto number = [&] {
            return base::parse_integer<std::uint64_t>(i + 1 < argc ? argv[++i] : "").value_or(0);
        };
        if (word == "--count") {
            count = number();
        } else if (word == "--seconds") {
            seconds = number();
        } else if (word == "--seed") {
            seed = number();
        } else if (word == "--settle") {
            settle = static_cast<unsigned>(number());
        } else if (word == "--group") {
            group = std::max<std::uint64_t>(1, number());
        } else if (word == "--answers") {
            answers = true;
        } else if (word == "--below") {
            below = i + 1 < argc ? argv[++i] : "";
        } else {
            path = word;
        }
    }
    if (below.empty() || path.empty()) {
        fmt::print(stderr, "mutation_oracle: --below FOLDER and CASES are needed\n");
        return 2;
    }
    std::vector<std::unique_ptr<Subject>> subjects;
    std::istringstream lines(environment::disk_files()->read(path).value_or(""));
    std::size_t bytes = 0, largest = 0;
    for (std::string line; std::getline(lines, line);) {
        auto fields = split(line, '\t');
        if (fields.size() < 8) continue;
        auto subject =
            std::make_unique<Subject>(Case{fields[0], fields[1], fields[2], fields[3], fields[4],
                                           fields[5], fields[6], fields[7] == "true"},
                                      below);
        if (!subject->start()) {
            fmt::print("left out: {}: {}\n", fields[0], subject->why());
            continue;
        }
        fmt::print("{}: {} reads, {} bytes{}{}{}\n", fields[0], subject->reads(), subject->bytes(),
                   subject->uses_ruby() ? ", Ruby" : "",
                   subject->unseen().empty() ? "" : ", unseen:", subject->unseen());
        bytes += subject->bytes();
        largest = std::max(largest, subject->bytes());
        subjects.push_back(std::move(subject));
        std::fflush(stdout);
    }
    if (subjects.empty()) return 1;
    if (answers) return walk_answers(subjects, count, seconds, seed) ? 0 : 1;
    Random random(seed);
    Tally sum;
    std::array<Tally, kKinds.size()> tallies;
    const auto begin = std::chrono::steady_clock::now();
    auto passed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    auto tell = [&] {
        for (std::size_t i = 0; i < kKinds.size(); ++i)
            if (tallies[i].all > 0) fmt::print("  {}: {}\n", kKinds[i].name, tallies[i].text());
        fmt::print("{} nodes, traces of {} bytes, at most {}; {:.0f} s (seed {}): {}\n",
                   subjects.size(), bytes / subjects.size(), largest, passed(), seed, sum.text());
        std::fflush(stdout);
    };
    double told = 0;
    while (sum.all < count && (seconds == 0 || passed() < static_cast<double>(seconds))) {
        Subject& subject = *subjects[random() % subjects.size()];
        for (const auto& outcome :
             subject.round(random, std::min<std::uint64_t>(group, count - sum.all), settle)) {
            sum.add(outcome, subject.uses_ruby());
            tallies[static_cast<std::size_t>(outcome.mutation.kind)].add(outcome,
                                                                         subject.uses_ruby());
            if (outcome.wrong) {
                fmt::print("WRONG: {}: {}\n{}\n", subject.its_case().node, outcome.mutation.what,
                           outcome.parting);
                std::fflush(stdout);
            }
        }
        if (passed() - told > 60) {
            tell();
            told = passed();
        }
    }
    tell();
    return sum.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bunraku::mutation

int main(int argc, char** argv) { return bunraku::mutation::run(argc, argv); }
