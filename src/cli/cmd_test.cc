// bunraku test: does every class compile with every set of facts, into a catalog that an agent
// would take, and is it as files below spec/expect say?
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

#include "cli/catalog_checks.h"
#include "cli/fleet_options.h"
#include "cli/node_options.h"
#include "cli/terminal.h"
#include "compile/reference/documents.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "compile/spec/expectations.h"
#include "compile/spec/test_coverage.h"
#include "compile/spec/test_results.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/config/setting_lists.h"
#include "core/sys/file_system.h"
#include "language/environment/conf.h"
#include "language/hiera/merge.h"
#include "resources/facts/documents.h"

namespace bunraku::cli {
namespace {

struct TestOptions {
    NodeOptions compile;
    std::vector<std::string> classes;
    std::string facts_dir, path, manifest, junit, format = "text", jobs;
    bool nodes = false, no_checks = false, list = false, coverage = false, json = false;
};

/// Facts that classes are compiled with.
struct FactSet {
    std::string name;
    value::Value facts, trusted;
};

struct TestedClass {
    std::string name, file;
    bool needs_parameters = false;
};

/// A manifest with a class `expect`.
struct ExpectFile {
    std::string name;  ///< "spec/expect/web.pp"
    std::string path;
    value::Value facts;  ///< of a file beside it, which go before those of the set; undef: none
};

constexpr const char* kExpectFolder = "spec/expect";

class Tests {
public:
    Tests(Invocation& invocation, const TestOptions& options, base::LogSink& log)
        : invocation_(invocation),
          options_(options),
          log_(log),
          site_(invocation.settings, of_site()) {}

    int run() {
        gather_facts();
        find_classes();
        plan();
        if (options_.list) {
            std::string json;
            for (const auto& test : tests_) {
                if (!options_.json)
                    fmt::print("{}\n", test.name());
                else
                    json +=
                        fmt::format(R"({}{{"subject":{},"facts":{},"file":{}}})",
                                    json.empty() ? "" : ",\n ", codec::json_string(test.subject),
                                    codec::json_string(test.facts), codec::json_string(test.file));
            }
            if (options_.json) fmt::print("[{}]\n", json);
            return 0;
        }
        if (tests_.empty())
            throw base::plain_error("There is no class to test; --classes and --path say which");
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
        const std::string text = options_.json              ? spec::json_text(tests_, whole.count())
                                 : options_.format == "tap" ? spec::tap_text(tests_)
                                 : options_.format == "junit"
                                     ? spec::junit_text(tests_, whole.count())
                                     : spec::plain_text(tests_, whole.count());
        std::fwrite(text.data(), 1, text.size(), stdout);
        if (options_.coverage) {
            // TAP, XML and JSON are for programs.
            auto* to = options_.format == "text" && !options_.json ? stdout : stderr;
            std::fputs(coverage_.text(true).c_str(), to);
        }
        if (!options_.junit.empty()) {
            const auto path =
                environment::expand_path(options_.junit, environment::working_directory());
            const auto done = sys::make_real_file_system()->write(
                path, spec::junit_text(tests_, whole.count()), 0644);
            if (!done) throw base::plain_error(done.error().message);
        }
        return std::ranges::any_of(tests_, &spec::TestResult::failed) ? 1 : 0;
    }

private:
    site::Options of_site() {
        auto out = site_options(log_);
        out.explain_errors = false;
        out.threads = 1;
        return out;
    }

    std::size_t jobs() const {
        if (options_.jobs.empty()) return std::max(1U, std::thread::hardware_concurrency());
        const auto jobs = base::parse_integer<std::size_t>(options_.jobs);
        if (!jobs || *jobs < 1 || *jobs > 1024)
            throw base::plain_error(
                fmt::format("--jobs: '{}' is not a number from 1 to 1024", options_.jobs));
        return *jobs;
    }

    site::NodeRequest request() const {
        auto out = options_.compile.request();
        if (!options_.path.empty())
            out.sources.directory =
                environment::expand_path(options_.path, environment::working_directory());
        if (options_.compile.server_facts.empty())
            out.server_facts = site::NodeRequest::ServerFacts::Fixed;
        return out;
    }

    void gather_facts() {
        if (!options_.facts_dir.empty()) {
            for (auto& one : site::fleet_facts(arena_, site_, options_.facts_dir, {}, log_))
                sets_.push_back({std::move(one.name), one.facts, one.trusted});
        } else {
            auto asked = request();
            asked.sources.no_manifest = true;
            const auto environment = site_.environment(asked);
            sets_.push_back(
                {"this machine",
                 site::machine_facts(arena_, invocation_.settings, environment.get(), log_),
                 {}});
        }
        if (sets_.empty())
            throw base::plain_error(fmt::format("{} holds no facts", options_.facts_dir));
        std::ranges::stable_sort(sets_, {}, &FactSet::name);
    }

    /// Those of the environment's own modules: what basemodulepath brings is tested elsewhere.
    void find_classes() {
        auto asked = request();
        asked.sources.no_manifest = true;
        const auto environment = site_.environment(asked);
        const auto settings = site_.view(asked.overlay);
        std::set<std::string> others;
        for (const auto& folder : settings->settings().list("basemodulepath"))
            others.insert(environment::expand_path(folder, environment::working_directory()));
        std::vector<std::string> folders;
        if (!environment->directory().empty()) folders.push_back(environment->directory());
        for (const auto& module : environment->modules())
            if (!others.contains(std::string(sys::directory_name(module.path))))
                folders.push_back(module.path);
        bool roles = false;
        for (const auto& folder : folders) {
            add_classes(*environment, folder, roles);
            add_expect_files(*environment, folder);
        }
        // A control repository says by its roles what there is to be.
        if (options_.classes.empty() && roles)
            std::erase_if(classes_, [](const TestedClass& c) { return !is_role(c.name); });
        std::ranges::sort(classes_, {}, &TestedClass::name);
    }

    static bool is_role(std::string_view name) {
        return name == "role" || name == "roles" || name.starts_with("role::") ||
               name.starts_with("roles::");
    }

    bool wanted(const std::string& name) const {
        if (options_.classes.empty()) return true;
        return std::ranges::any_of(options_.classes, [&](const std::string& pattern) {
            return fits(base::lower(pattern), name);
        });
    }

    void add_classes(const environment::Environment& environment, const std::string& folder,
                     bool& roles) {
        for (const auto& file :
             reference::files_below(environment.files(), folder, "manifests", ".pp")) {
            const std::string path = folder + "/" + file;
            const auto text = environment.read(path);
            if (!text) continue;
            try {
                for (const auto& item : reference::documents_of_manifest(path, *text)) {
                    if (item.kind != reference::DocItem::Kind::Class) continue;
                    const auto parameters = parameters_of(item);
                    coverage_.add_class(item.name, parameters);
                    if (!wanted(item.name)) continue;
                    // What a module keeps for itself is compiled through what includes it.
                    if (options_.classes.empty() && item.doc.is_private()) continue;
                    TestedClass c{item.name, path, false};
                    c.needs_parameters = std::ranges::any_of(
                        parameters,
                        [&](const std::string& name) { return !item.default_of(name); });
                    roles |= is_role(item.name);
                    classes_.push_back(std::move(c));
                }
            } catch (const base::PuppetError& e) {
                spec::TestResult broken;
                broken.subject = path;
                broken.problem = e.full_text();
                broken.state = spec::TestResult::State::Failed;
                tests_.push_back(std::move(broken));
            }
        }
    }

    /// A comment may tell of parameters that are not there.
    static std::vector<std::string> parameters_of(const reference::DocItem& item) {
        std::vector<std::string> out;
        for (const auto& tag : item.doc.tags)
            if (tag.tag == "param" && tag.name &&
                item.source.find("$" + *tag.name) != std::string::npos)
                out.push_back(*tag.name);
        return out;
    }

    void add_expect_files(const environment::Environment& environment, const std::string& folder) {
        for (const auto& name :
             reference::files_below(environment.files(), folder, kExpectFolder, ".pp")) {
            if (!wanted(name)) continue;
            ExpectFile file{name, folder + "/" + name, {}};
            const auto stem =
                file.path.substr(0, file.path.size() - std::string_view(".pp").size());
            for (const char* end : {".json", ".yaml"}) {
                const auto text = environment.files().read(stem + end);
                if (!text) continue;
                const auto read = facts::read_documents(arena_, *text, stem + end);
                if (!read) throw base::plain_error(read.error().message);
                if (!read->empty()) file.facts = read->front().values;
            }
            expect_files_.push_back(std::move(file));
        }
    }

    void plan() {
        const auto add = [&](const std::string& subject, const std::string& file, std::size_t set,
                             const TestedClass* tested, const ExpectFile* expect) {
            spec::TestResult test;
            test.subject = subject;
            test.file = file;
            test.facts = sets_[set].name;
            plans_.push_back({tests_.size(), set, tested, expect});
            tests_.push_back(std::move(test));
        };
        for (const auto& c : classes_)
            for (std::size_t i = 0; i < sets_.size(); ++i) add(c.name, c.file, i, &c, nullptr);
        for (const auto& file : expect_files_)
            for (std::size_t i = 0; i < sets_.size(); ++i)
                add(file.name, file.path, i, nullptr, &file);
        if (!options_.nodes) return;
        for (std::size_t i = 0; i < sets_.size(); ++i)
            add("node " + sets_[i].name, "", i, nullptr, nullptr);
    }

    struct Plan {
        std::size_t test, set;
        const TestedClass* tested;
        const ExpectFile* expect;  ///< both null: the node as the manifest has it
    };

    void work() {
        std::atomic<std::size_t> next{0};
        std::mutex mutex;
        ProgressLine progress;
        std::size_t done = 0;
        const auto loop = [&] {
            spec::Coverage seen;
            for (std::size_t i; (i = next.fetch_add(1)) < plans_.size();) {
                compile(plans_[i], seen);
                const std::lock_guard lock(mutex);
                progress.show(++done, plans_.size(), "tests");
            }
            const std::lock_guard lock(mutex);
            coverage_.add(std::move(seen));
        };
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < std::min(jobs(), plans_.size()); ++i)
            threads.emplace_back(loop);
        loop();
        for (auto& t : threads) t.join();
    }

    void compile(const Plan& plan, spec::Coverage& seen) {
        spec::TestResult& test = tests_[plan.test];
        const auto begin = std::chrono::steady_clock::now();
        base::MemorySink records;
        try {
            auto asked = request();
            const FactSet& set = sets_[plan.set];
            asked.facts.values = set.facts;
            base::Arena merged(4096);
            if (plan.expect && !plan.expect->facts.is_undef())
                asked.facts.values = hiera::deep_merge(merged, plan.expect->facts, set.facts, {});
            asked.trusted = set.trusted;
            asked.node = options_.facts_dir.empty() ? "test.example.org" : set.name;
            if (plan.tested) {
                asked.classes = std::vector{plan.tested->name};
                if (options_.manifest.empty())
                    asked.sources.no_manifest = true;
                else
                    asked.sources.manifest = options_.manifest;
            } else {
                asked.sources.manifest = plan.expect ? plan.expect->path : options_.manifest;
                // What the file declares is all that the node gets.
                if (plan.expect) asked.classify = false;
            }
            const auto session = site_.session(std::move(asked), records);
            if (plan.expect)
                expect(test, *session, plan.expect->path, seen);
            else
                test.resources = compile(test, *session, seen)->resources.size();
        } catch (const base::PuppetError& e) {
            test.problem = e.full_text();
            // Nobody gives it what it needs: that is how it is made.
            if (plan.tested && plan.tested->needs_parameters && options_.classes.empty() &&
                test.problem.find("expects a value for parameter") != std::string::npos &&
                test.problem.find(fmt::format("Class[{}]", type_name(plan.tested->name))) !=
                    std::string::npos)
                test.state = spec::TestResult::State::Skipped;
        } catch (const std::exception& e) {
            test.problem = e.what();
        }
        if (test.state != spec::TestResult::State::Skipped)
            test.state = test.problem.empty() ? spec::TestResult::State::Passed
                                              : spec::TestResult::State::Failed;
        for (const auto& r : records.records)
            if (r.level >= base::Level::Warning) test.warnings.push_back(r.message);
        test.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    /// The catalog; what an agent would say to it is the test's problem.
    std::shared_ptr<const catalog::Catalog> compile(spec::TestResult& test, site::Session& session,
                                                    spec::Coverage& seen) {
        auto catalog = session.compile().catalog;
        if (!options_.no_checks) {
            const auto problems = check_catalog(invocation_, session, *catalog);
            test.problem = problems.refused;
            for (const auto& cycle : problems.cycles)
                test.problem += (test.problem.empty() ? "A circle: " : "\n") + cycle;
        }
        if (options_.coverage) seen.record(*catalog);
        return catalog;
    }

    void expect(spec::TestResult& test, site::Session& session, const std::string& file,
                spec::Coverage& seen) {
        std::shared_ptr<const catalog::Catalog> catalog;
        std::string error;
        try {
            catalog = compile(test, session, seen);
            test.resources = catalog->resources.size();
        } catch (const base::PuppetError& e) {
            error = e.full_text();
        }
        // An agent's refusal may be what is expected.
        const bool refused = !test.problem.empty();
        if (refused) error = std::exchange(test.problem, {});
        const auto expected =
            spec::check_expectations(session, file, refused ? nullptr : catalog.get(), error);
        test.problem = expected.problem;
        seen.record(expected);
    }

    static std::string type_name(std::string_view name) {
        std::string out;
        for (const auto part : base::split(name, ':'))
            out += part.empty() ? "::" : base::capitalized(part);
        return out;
    }

    Invocation& invocation_;
    const TestOptions& options_;
    base::LogSink& log_;
    site::Site site_;
    base::Arena arena_{1 << 20};
    std::vector<FactSet> sets_;
    std::vector<TestedClass> classes_;
    std::vector<ExpectFile> expect_files_;
    std::vector<spec::TestResult> tests_;
    spec::Coverage coverage_;
    std::vector<Plan> plans_;
};

int run_test(Invocation& invocation) {
    OptionParser parser(invocation);
    TestOptions options;
    options.compile.add_to(parser);
    std::vector<std::string> patterns, given;
    parser.list("classes", &given);
    parser.value("facts-dir", &options.facts_dir);
    parser.value("path", &options.path);
    parser.value("with-manifest", &options.manifest);
    parser.value("junit", &options.junit);
    parser.value("format", &options.format);
    parser.value("jobs", &options.jobs);
    parser.flag("nodes", &options.nodes);
    parser.flag("no-checks", &options.no_checks);
    parser.flag("list", &options.list);
    parser.flag("json", &options.json);
    parser.flag("coverage", &options.coverage);
    if (!parser.parse(&patterns)) return parser.exit_code();
    if (options.format != "text" && options.format != "tap" && options.format != "junit")
        throw base::plain_error(
            fmt::format("--format: there are text, tap and junit, and no '{}'", options.format));
    for (const auto& text : given)
        for (auto& one : config::split_list(text)) options.classes.push_back(std::move(one));
    options.classes.insert(options.classes.end(), patterns.begin(), patterns.end());
    auto sink = make_console_sink(parser);
    return Tests(invocation, options, *sink).run();
}

}  // namespace

BUNRAKU_COMMAND(test){.name = "test",
                      .summary = "Compile every class with every set of facts, and check it.",
                      .run = run_test,
                      .run_mode = "server"};

}  // namespace bunraku::cli
