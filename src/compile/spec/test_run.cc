// SPDX-License-Identifier: Apache-2.0
#include "compile/spec/test_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "compile/insight/fleet_selection.h"
#include "compile/reference/documents.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "compile/spec/expectations.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/file_system.h"
#include "language/environment/conf.h"
#include "language/hiera/merge.h"
#include "resources/facts/documents.h"

namespace bunraku::spec {

namespace {

constexpr const char* kExpectFolder = "spec/expect";

}  // namespace

class TestRun::Impl {
public:
    Impl(const config::Settings& settings, site::Options site, const TestRunOptions& options,
         base::LogSink& log)
        : settings_(settings),
          options_(options),
          log_(log),
          site_(settings, of_site(std::move(site))) {}

    void plan_all() {
        gather_facts();
        find_classes();
        plan();
    }
    void run(std::size_t threads, const TestProgress& progress) {
        std::atomic<std::size_t> next{0};
        std::mutex mutex;
        std::size_t done = 0;
        const auto loop = [&] {
            Coverage seen;
            for (std::size_t i; (i = next.fetch_add(1)) < plans_.size();) {
                compile(plans_[i], seen);
                const std::lock_guard lock(mutex);
                progress(++done, plans_.size());
            }
            const std::lock_guard lock(mutex);
            coverage_.add(std::move(seen));
        };
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < std::min(threads, plans_.size()); ++i)
            others.emplace_back(loop);
        loop();
        for (auto& t : others) t.join();
    }

    std::vector<TestResult>& tests() { return tests_; }
    const Coverage& coverage() const { return coverage_; }

private:
    /// A set of facts to compile classes with.
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
        /// from a file next to it, with precedence over those of the set; may be undef
        value::Value facts;
    };

    static site::Options of_site(site::Options out) {
        out.explain_errors = false;
        out.threads = 1;
        return out;
    }

    site::NodeRequest request() const {
        auto out = options_.compile.request();
        if (!options_.path.empty())
            out.sources.directory =
                environment::expand_path(options_.path, environment::working_directory());
        if (options_.compile.server_facts.empty())
            out.server_facts.kind = site::ServerFacts::Kind::Fixed;
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
            sets_.push_back({"this machine",
                             site::machine_facts(arena_, settings_, environment.get(), log_),
                             {}});
        }
        if (sets_.empty())
            throw base::plain_error(fmt::format("{} does not contain facts", options_.facts_dir));
        std::ranges::stable_sort(sets_, {}, &FactSet::name);
    }

    /// Finds the classes of the environment's own modules. Those in basemodulepath are tested
    /// elsewhere.
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
        // The roles of a control repository define the kinds of its nodes, so only they are tested.
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
            return insight::fits(base::lower(pattern), name);
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
                    // A module's private class is compiled through the classes that include it.
                    if (options_.classes.empty() && item.doc.is_private()) continue;
                    TestedClass c{item.name, path, false};
                    c.needs_parameters = std::ranges::any_of(
                        parameters,
                        [&](const std::string& name) { return !item.default_of(name); });
                    roles |= is_role(item.name);
                    classes_.push_back(std::move(c));
                }
            } catch (const base::PuppetError& e) {
                TestResult broken;
                broken.subject = path;
                broken.problem = e.full_text();
                broken.state = TestResult::State::Failed;
                tests_.push_back(std::move(broken));
            }
        }
    }

    /// Returns the documented parameters that exist. A comment may document others.
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
            TestResult test;
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
        const ExpectFile* expect;  ///< if both are null, the node is compiled with the manifest
    };

    void compile(const Plan& plan, Coverage& seen) {
        TestResult& test = tests_[plan.test];
        const auto begin = std::chrono::steady_clock::now();
        base::MemorySink records;
        try {
            auto asked = request();
            const FactSet& set = sets_[plan.set];
            asked.facts.values = set.facts;
            base::Arena merged(4096);
            if (plan.expect && !plan.expect->facts.is_undef())
                asked.facts.values = hiera::deep_merge(merged, plan.expect->facts, set.facts, {});
            asked.trusted.give(set.trusted);
            asked.node = options_.facts_dir.empty() ? "test.example.org" : set.name;
            if (plan.tested) {
                asked.classes = std::vector{plan.tested->name};
                if (options_.manifest.empty())
                    asked.sources.no_manifest = true;
                else
                    asked.sources.manifest = options_.manifest;
            } else {
                asked.sources.manifest = plan.expect ? plan.expect->path : options_.manifest;
                // The node gets only what the file declares.
                if (plan.expect) asked.classification = site::Unclassified();
            }
            const auto session = site_.session(std::move(asked), records);
            if (plan.expect)
                expect(test, *session, plan.expect->path, seen);
            else
                test.resources = compile(test, *session, seen)->resources.size();
        } catch (const base::PuppetError& e) {
            test.problem = e.full_text();
            // A class with mandatory parameters cannot be compiled without values for them, so the
            // test is skipped.
            if (plan.tested && plan.tested->needs_parameters && options_.classes.empty() &&
                test.problem.find("expects a value for parameter") != std::string::npos &&
                test.problem.find(fmt::format("Class[{}]", type_name(plan.tested->name))) !=
                    std::string::npos)
                test.state = TestResult::State::Skipped;
        } catch (const std::exception& e) {
            test.problem = e.what();
        }
        if (test.state != TestResult::State::Skipped)
            test.state =
                test.problem.empty() ? TestResult::State::Passed : TestResult::State::Failed;
        for (const auto& r : records.records)
            if (r.level >= base::Level::Warning) test.warnings.push_back(r.message);
        test.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    /// Compiles the catalog. The problem that an agent would report becomes the test's problem.
    std::shared_ptr<const catalog::Catalog> compile(TestResult& test, site::Session& session,
                                                    Coverage& seen) {
        auto catalog = session.compile().catalog;
        if (options_.check) test.problem = options_.check(session, *catalog);
        if (options_.coverage) seen.record(*catalog);
        return catalog;
    }

    void expect(TestResult& test, site::Session& session, const std::string& file, Coverage& seen) {
        std::shared_ptr<const catalog::Catalog> catalog;
        std::string error;
        try {
            catalog = compile(test, session, seen);
            test.resources = catalog->resources.size();
        } catch (const base::PuppetError& e) {
            error = e.full_text();
        }
        // The test may expect that an agent refuses the catalog.
        const bool refused = !test.problem.empty();
        if (refused) error = std::exchange(test.problem, {});
        const auto expected =
            check_expectations(session, file, refused ? nullptr : catalog.get(), error);
        test.problem = expected.problem;
        seen.record(expected);
    }

    static std::string type_name(std::string_view name) {
        std::string out;
        for (const auto part : base::split(name, ':'))
            out += part.empty() ? "::" : base::capitalized(part);
        return out;
    }

    const config::Settings& settings_;
    const TestRunOptions& options_;
    base::LogSink& log_;
    site::Site site_;
    base::Arena arena_{1 << 20};
    std::vector<FactSet> sets_;
    std::vector<TestedClass> classes_;
    std::vector<ExpectFile> expect_files_;
    std::vector<TestResult> tests_;
    Coverage coverage_;
    std::vector<Plan> plans_;
};

TestRun::TestRun(const config::Settings& settings, site::Options site,
                 const TestRunOptions& options, base::LogSink& log)
    : impl_(std::make_unique<Impl>(settings, std::move(site), options, log)) {
    impl_->plan_all();
}
TestRun::~TestRun() = default;

void TestRun::run(std::size_t threads, const TestProgress& progress) {
    impl_->run(threads, progress);
}
const std::vector<TestResult>& TestRun::tests() const { return impl_->tests(); }
const Coverage& TestRun::coverage() const { return impl_->coverage(); }

}  // namespace bunraku::spec
