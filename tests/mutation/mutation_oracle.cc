// The proof that a compile's trace is whole: the world is changed at random, and where the trace
// says that a change does not touch a node, the node is compiled all the same and must give the
// same catalog (docs/design/0052).
//
//   mutation_oracle [--count N] [--seed S] [--settle PERCENT] CASES
//
// CASES has a case a line, separated by tabs: node, file of facts (JSON), modulepath, folder of the
// environment (or empty), hiera.yaml of the global layer (or empty), manifest (or empty), strict,
// strict_variables. Exits with 1 where a catalog changed that should not have.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "../unit/environment/memory_files.h"
#include "base/number.h"
#include "catalog/agent_json.h"
#include "compiler/change.h"
#include "compiler/compile.h"
#include "hiera/lookup.h"
#include "template/host.h"
#include "template/ruby_session.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::compiler {
namespace {

using environment::Read;
using value::Value;
using Texts = probe::MemoryFiles::Texts;

struct Case {
    std::string node, facts, modulepath, directory, hiera, manifest, strict;
    bool strict_variables = false;
};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> out(1);
    for (const char c : text) {
        if (c == at) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

std::string slurp(const std::string& path) {
    return environment::disk_files()->read(path).value_or("");
}

/// One node in one world.
class Subject {
public:
    explicit Subject(Case c) : case_(std::move(c)), facts_text_(slurp(case_.facts)) {}

    World world(const Texts& texts, const std::string& facts, const std::string& codedir) {
        environment::Spec spec;
        spec.directory = case_.directory;
        if (!case_.modulepath.empty()) {
            spec.modulepath = split(case_.modulepath, ':');
            spec.modulepath_given = true;
        }
        spec.manifest = case_.manifest;
        spec.strict = syntax::ValidateOptions::Strict::Warning;
        spec.files = std::make_shared<probe::MemoryFiles>(texts, environment::disk_files());
        if (base_.environment) spec.reads = base_.environment->reads();
        auto opened = environment::Environment::open(spec, log_, base_.environment.get());
        World out;
        if (!opened) {
            why_ = opened.error().message;
            return out;
        }
        out.environment = *opened;
        out.data = data_;
        auto parsed = value::parse_json(arena_, arena_.copy(facts));
        out.facts = parsed ? *parsed : Value::undef();
        value::HashBuilder server(arena_);
        server.set("servername", Value::string("puppet.example.org"));
        server.set("serverip", Value::string("192.0.2.10"));
        out.server_facts = server.build();
        out.setting = [codedir](std::string_view name) -> std::optional<std::string> {
            if (name == "codedir") return codedir;
            if (name == "confdir") return "/etc/puppetlabs/puppet";
            return std::nullopt;
        };
        return out;
    }

    /// The catalog without stamps and lines, or the error without places.
    std::string compile_in(const World& world, environment::Trace* trace) {
        if (!world.environment) return "error: " + why_;
        Request request;
        request.arena = std::make_shared<base::Arena>(256 * 1024);
        request.environment = world.environment;
        request.log = &log_;
        request.trace = trace;
        request.options.strict_variables = case_.strict_variables;
        request.options.strict = case_.strict == "error"     ? evaluator::Strict::Error
                                 : case_.strict == "warning" ? evaluator::Strict::Warning
                                                             : evaluator::Strict::Off;
        SystemInputs inputs("production", case_.node, world.setting);
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
        request.services.lookup = &lookup;
        request.services.templates = &templates;
        try {
            auto result = compile(request);
            result.catalog->catalog_uuid.clear();
            result.catalog->version.clear();
            for (auto& resource : result.catalog->resources) resource.line = 0;
            std::string out;
            catalog::write_agent_json(out, *result.catalog, {});
            return out;
        } catch (const base::PuppetError& e) {
            return "error: " + e.message();
        }
    }

    /// False where the node does not compile, or needs Ruby, which reads the disk by itself.
    bool start() {
        base_ = world({}, facts_text_, "/etc/puppetlabs/code");
        if (!base_.environment) return false;
        base_.parameters.clear();
        trace_ = std::make_unique<environment::Trace>(base_.environment->reads());
        catalog_ = compile_in(base_, trace_.get());
        if (catalog_.starts_with("error")) {
            why_ = catalog_;
            return false;
        }
        if (templates::RubySession::pool_of(*base_.environment, nullptr)->profile().starts > 0) {
            why_ = "needs Ruby";
            return false;
        }
        for (const auto& [item, answer] : trace_->items()) {
            const std::string name(item.name);
            if (item.kind == Read::Exists || item.kind == Read::File || item.kind == Read::Names ||
                item.kind == Read::Data) {
                const auto stamp = environment::disk_files()->stat(name);
                if (stamp.exists && !stamp.directory) {
                    files_.insert(name);
                } else if (!stamp.exists) {
                    absent_.insert(name);
                }
            }
            if (item.kind == Read::Data) keys_.emplace(item.detail);
            if (item.kind == Read::Fact && !item.name.empty()) fact_paths_.emplace(item.name);
        }
        // Files beside those that were read.
        std::set<std::string> folders;
        for (const auto& file : files_) folders.insert(file.substr(0, file.rfind('/')));
        for (const auto& folder : folders) {
            for (const auto& name : environment::disk_files()->list(folder)) {
                auto path = folder + "/" + name;
                const auto stamp = environment::disk_files()->stat(path);
                if (!stamp.directory && stamp.size < 200'000 && !files_.contains(path))
                    beside_.insert(std::move(path));
            }
        }
        return true;
    }

    const Case& its_case() const { return case_; }
    const std::string& why() const { return why_; }
    const environment::Trace& trace() const { return *trace_; }
    std::size_t reads() const { return trace_->items().size(); }

    struct Outcome {
        bool touched = false, equal = false, compiled = false;
        std::string what, touch;
    };

    Outcome mutate(std::mt19937_64& random, unsigned settle) {
        Outcome out;
        Texts texts;
        std::string facts = facts_text_, codedir = "/etc/puppetlabs/code";
        const auto kind = random() % 100;
        if (kind < 60) {
            const std::string path = pick(random, random() % 10 < 7 ? files_ : beside_);
            if (path.empty() || path.ends_with(".rb")) return out;
            auto text = slurp(path);
            out.what = fmt::format("{} in {}", edit(random, path, text), path);
            texts[path] = std::move(text);
        } else if (kind < 70) {
            const std::string path = pick(random, absent_);
            if (path.empty() || path.ends_with(".rb") || !path.starts_with('/')) return out;
            texts[path] = invented(random, path);
            out.what = "new: " + path;
        } else if (kind < 75) {
            const std::string path = pick(random, random() % 2 ? files_ : beside_);
            if (path.empty() || path.ends_with(".rb")) return out;
            texts[path] = std::nullopt;
            out.what = "gone: " + path;
        } else if (kind < 98) {
            out.what = "fact: " + change_fact(random, facts);
        } else {
            codedir = "/elsewhere";
            out.what = "setting codedir";
        }
        const World after = world(texts, facts, codedir);
        if (!after.environment) {
            out.touched = true;
            return out;
        }
        const auto touched = Change(base_, after).touched(*trace_, true);
        out.touched = !touched.empty();
        if (out.touched) {
            out.touch = fmt::format("{} {} {}", environment::read_name(touched[0].kind),
                                    touched[0].name, touched[0].detail);
            if (random() % 100 >= settle) return out;
        }
        out.compiled = true;
        after_ = compile_in(after, nullptr);
        out.equal = after_ == catalog_;
        return out;
    }
    /// Where the two catalogs of the last mutation part.
    std::string parting() const {
        const auto [a, b] = std::ranges::mismatch(catalog_, after_);
        const auto at = static_cast<std::size_t>(a - catalog_.begin());
        const auto from = at < 80 ? 0 : at - 80;
        return fmt::format("  was: {}\n  is:  {}", catalog_.substr(from, 200),
                           after_.substr(std::min(from, after_.size()), 200));
    }

private:
    static std::string pick(std::mt19937_64& random, const std::set<std::string>& from) {
        if (from.empty()) return {};
        return *std::next(from.begin(), static_cast<std::ptrdiff_t>(random() % from.size()));
    }

    static std::string edit(std::mt19937_64& random, const std::string& path, std::string& text) {
        auto line_start = [&] {
            if (text.empty()) return std::size_t{0};
            const auto nl = text.rfind('\n', random() % text.size());
            return nl == std::string::npos ? 0 : nl + 1;
        };
        const std::size_t at = text.empty() ? 0 : random() % text.size();
        switch (random() % 9) {
            case 0:
                if (!text.empty()) text[at] = static_cast<char>(' ' + random() % 95);
                return "a letter";
            case 1:
                if (!text.empty()) text.erase(at, 1);
                return "a letter less";
            case 2: {
                const auto start = line_start();
                const auto end = std::min(text.find('\n', start), text.size());
                text.erase(start, end - start);
                return "a line less";
            }
            case 3: {
                const auto start = line_start();
                const auto end = std::min(text.find('\n', start), text.size());
                text.insert(start, text.substr(start, end - start) + "\n");
                return "a line twice";
            }
            case 4: text.insert(line_start(), "# a comment\n"); return "a comment";
            case 5: {
                const auto digit = text.find_first_of("0123456789", at);
                if (digit != std::string::npos)
                    text[digit] = static_cast<char>('0' + random() % 10);
                return "a digit";
            }
            case 6: {
                const auto quote = text.find_first_of("'\"", at);
                if (quote != std::string::npos) text.insert(quote + 1, "q");
                return "a text";
            }
            case 7:
                if (path.ends_with(".pp")) {
                    text += fmt::format("\nclass mutation::c{} {{ }}\n", random() % 10);
                } else {
                    text += "\nmutation::key: 1\n";
                }
                return "something more";
            default: text += "\n"; return "an empty line";
        }
    }

    std::string invented(std::mt19937_64& random, const std::string& path) {
        if (path.ends_with(".yaml") || path.ends_with(".yml"))
            return fmt::format("---\n{}: 7\n", keys_.empty() ? "k" : pick(random, keys_));
        if (path.ends_with(".json"))
            return fmt::format("{{\"{}\": 7}}", keys_.empty() ? "k" : pick(random, keys_));
        if (path.ends_with(".conf")) return "";
        if (path.ends_with(".pp")) return "class mutation { }\n";
        return "text\n";
    }

    std::string change_fact(std::mt19937_64& random, std::string& facts) {
        base::Arena arena(64 * 1024);
        auto parsed = value::parse_json(arena, arena.copy(facts));
        if (!parsed || !parsed->is_hash()) return "";
        std::string path;
        // Half of the time one that was read.
        std::vector<std::string> along;
        if (random() % 2 && !fact_paths_.empty()) along = split(pick(random, fact_paths_), '.');
        const Value changed = change_in(random, arena, *parsed, path, along, 0);
        facts = value::to_json(changed);
        return path;
    }

    static Value change_in(std::mt19937_64& random, base::Arena& arena, const Value& v,
                           std::string& path, const std::vector<std::string>& along,
                           std::size_t depth) {
        if (v.is_hash() && !v.as_hash().empty()) {
            const auto& hash = v.as_hash();
            std::size_t chosen = random() % hash.size();
            std::size_t i = 0;
            if (depth < along.size())
                for (const auto& e : hash) {
                    if (value::to_text(e.key) == along[depth]) chosen = i;
                    ++i;
                }
            i = 0;
            value::HashBuilder out(arena, hash.size());
            for (const auto& e : hash) {
                if (i++ != chosen) {
                    out.set(e.key, e.value);
                    continue;
                }
                path += (path.empty() ? "" : ".") + value::to_text(e.key);
                if (random() % 20 == 0) {
                    path += " gone";
                } else {
                    out.set(e.key, change_in(random, arena, e.value, path, along, depth + 1));
                }
            }
            if (depth == 0 && random() % 20 == 0) out.set("mutation", Value::integer(1));
            return out.build();
        }
        if (v.is_array() && !v.as_array().empty()) {
            std::vector<Value> items(v.as_array().begin(), v.as_array().end());
            auto& item = items[random() % items.size()];
            item = change_in(random, arena, item, path, along, depth + 1);
            return value::make_array(arena, items);
        }
        if (v.is_integer()) return Value::integer(v.as_integer() + 1);
        if (v.is(value::Kind::Boolean)) return Value::boolean(!v.truthy());
        return value::make_string(arena, value::to_text(v) + "x");
    }

    Case case_;
    std::string facts_text_, why_, catalog_, after_;
    base::Arena arena_{64 * 1024};
    base::NullSink log_;
    std::shared_ptr<hiera::DataCache> data_ = std::make_shared<hiera::DataCache>();
    World base_;
    std::unique_ptr<environment::Trace> trace_;
    std::set<std::string> files_, absent_, beside_, keys_, fact_paths_;
};

int run(int argc, char** argv) {
    std::uint64_t count = 1000, seed = 1;
    unsigned settle = 5;
    std::string path;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        auto number = [&] {
            return base::parse_integer<std::uint64_t>(i + 1 < argc ? argv[++i] : "").value_or(0);
        };
        if (word == "--count") {
            count = number();
        } else if (word == "--seed") {
            seed = number();
        } else if (word == "--settle") {
            settle = static_cast<unsigned>(number());
        } else {
            path = word;
        }
    }
    std::vector<std::unique_ptr<Subject>> subjects;
    std::istringstream lines(slurp(path));
    for (std::string line; std::getline(lines, line);) {
        auto fields = split(line, '\t');
        if (fields.size() < 8) continue;
        auto subject =
            std::make_unique<Subject>(Case{fields[0], fields[1], fields[2], fields[3], fields[4],
                                           fields[5], fields[6], fields[7] == "true"});
        if (!subject->start()) {
            fmt::print("left out: {}: {}\n", fields[0], subject->why());
            continue;
        }
        fmt::print("{}: {} reads, {} bytes\n", fields[0], subject->reads(),
                   subject->trace().pack().size());
        subjects.push_back(std::move(subject));
    }
    if (subjects.empty()) return 1;
    std::mt19937_64 random(seed);
    std::uint64_t wrong = 0, untouched = 0, touched = 0, settled = 0, equal = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t done = 0; done < count;) {
        Subject& subject = *subjects[random() % subjects.size()];
        const auto outcome = subject.mutate(random, settle);
        if (outcome.what.empty()) continue;
        ++done;
        if (outcome.touched) {
            ++touched;
            if (outcome.compiled) ++settled, equal += outcome.equal;
        } else {
            ++untouched;
            if (!outcome.equal) {
                ++wrong;
                fmt::print("WRONG: {}: {}\n{}\n", subject.its_case().node, outcome.what,
                           subject.parting());
            }
        }
        std::fflush(stdout);
    }
    const auto seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fmt::print(
        "{} mutations of {} nodes in {:.0f} s (seed {}): {} untouched, of which {} WRONG; {} "
        "touched, of {} compiled {} were equal ({:.0f} %)\n",
        count, subjects.size(), seconds, seed, untouched, wrong, touched, settled, equal,
        settled ? 100.0 * static_cast<double>(equal) / static_cast<double>(settled) : 0.0);
    return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bunraku::compiler

int main(int argc, char** argv) { return bunraku::compiler::run(argc, argv); }
