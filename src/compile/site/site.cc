// SPDX-License-Identifier: Apache-2.0
#include "compile/site/site.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include "compile/site/external_nodes.h"
#include "core/base/plain_error.h"
#include "core/config/setting_values.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"
#include "language/environment/commit_files.h"
#include "language/environment/conf.h"
#include "language/environment/snapshots.h"
#include "language/ruby/answers.h"

namespace bunraku::site {

using base::PuppetError;

namespace {

/// A log sink that several threads may use.
class Shared final : public base::LogSink {
public:
    explicit Shared(base::LogSink* inner) : inner_(inner) {}
    using LogSink::log;
    bool enabled(base::Level level) const override { return inner_ && inner_->enabled(level); }
    void log(const base::Diagnostic& d) override {
        if (!inner_) return;
        const std::lock_guard lock(mutex_);
        inner_->log(d);
    }

private:
    base::LogSink* inner_;
    std::mutex mutex_;
};

/// A cache of the most recently used items.
template <class T>
class RecentItems {
public:
    template <class Make>
    std::shared_ptr<T> get(const std::string& key, Make&& make) {
        const std::lock_guard lock(mutex_);
        auto it = items_.find(key);
        if (it == items_.end()) {
            if (items_.size() >= kMost) {
                items_.erase(std::ranges::min_element(
                    items_, {}, [](const auto& item) { return item.second.used; }));
            }
            it = items_.emplace(key, Item{make(), 0}).first;
        }
        it->second.used = ++clock_;
        return it->second.value;
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        items_.clear();
    }
    template <class Predicate>
    std::shared_ptr<T> find_if(Predicate&& predicate) {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, item] : items_)
            if (predicate(*item.value)) return item.value;
        return nullptr;
    }
    template <class Predicate>
    void erase_if(Predicate&& predicate) {
        const std::lock_guard lock(mutex_);
        std::erase_if(items_, [&](const auto& item) { return predicate(*item.second.value); });
    }

private:
    static constexpr std::size_t kMost = 256;
    struct Item {
        std::shared_ptr<T> value;
        std::uint64_t used;
    };
    std::mutex mutex_;
    std::map<std::string, Item> items_;
    std::uint64_t clock_ = 0;
};

/// The snapshots of an environment for one kind of request, over all states of its files.
struct EnvironmentState {
    explicit EnvironmentState(environment::Snapshots::Options options)
        : files(options.spec.files), snapshots(std::move(options)) {}
    const std::shared_ptr<const environment::Files> files;
    environment::Snapshots snapshots;
    std::shared_ptr<hiera::DataCache> data = std::make_shared<hiera::DataCache>();
};

/// Appends the length too, so that different lists of texts never give the same key.
void add(std::string& key, std::string_view text) {
    key += fmt::format("{}:", text.size());
    key += text;
}

std::string key_of(const Overlay& overlay) {
    std::string key;
    for (const auto& [name, text] : overlay.entries()) {
        add(key, name);
        add(key, text);
    }
    return key;
}

std::string key_of(const Overlay& overlay, const Sources& sources) {
    std::string key = key_of(overlay);
    add(key, sources.directory);
    add(key, sources.manifest);
    add(key, sources.revision);
    if (sources.files) add(key, fmt::format("{}", static_cast<const void*>(sources.files.get())));
    key += sources.no_manifest ? 'n' : 'm';
    if (sources.code) {
        add(key += 'c', *sources.code);
        add(key, sources.code_name);
    }
    if (sources.modulepath) {
        key += 'p';
        for (const auto& folder : *sources.modulepath) add(key, folder);
    }
    return key;
}

environment::Spec spec_of(const config::Settings& settings, const Sources& sources) {
    environment::Spec spec = environment_spec(settings);
    spec.directory = sources.directory;
    if (sources.modulepath) {
        spec.modulepath = *sources.modulepath;
        spec.modulepath_given = true;
    }
    spec.manifest = sources.manifest;
    spec.code = sources.code;
    spec.code_name = sources.code_name;
    spec.no_manifest = sources.no_manifest;
    if (auto dir = settings.text("default_manifest"); !dir.empty()) spec.default_manifest = dir;
    spec.disable_per_environment_manifest = settings.boolean("disable_per_environment_manifest");
    spec.tasks = settings.boolean("tasks");
    spec.level = settings.compatibility();
    spec.level_fixed = settings.on_command_line("compatibility");
    using Strict = syntax::ValidateOptions::Strict;
    const auto strict = settings.text("strict");
    spec.strict = strict == "off"       ? Strict::Off
                  : strict == "warning" ? Strict::Warning
                                        : Strict::Error;
    return spec;
}

/// Returns the folder of the environment on the disk. Throws.
std::string folder_of(const environment::Spec& spec, const config::Settings& settings) {
    const auto cwd = environment::working_directory();
    if (!spec.directory.empty()) return environment::expand_path(spec.directory, cwd);
    for (const auto& parent : spec.environmentpath) {
        auto folder = environment::expand_path(parent, cwd) + "/" + spec.name;
        if (environment::disk_files()->stat(folder).directory) return folder;
    }
    throw base::plain_error(environment_missing(settings));
}

/// Puppet creates the folder of `production` if the environmentpath exists. Without the setting
/// environmentpath, no folder is needed.
bool may_be_missing(const config::Settings& settings) {
    if (const auto name = settings.text("environment"); !name.empty() && name != "production")
        return false;
    if (!settings.is_set("environmentpath")) return true;
    const auto folders = settings.list("environmentpath");
    return std::ranges::any_of(
        folders, [](const std::string& folder) { return sys::disk().is_directory(folder); });
}

/// Reports whether the path is ENVIRONMENT/manifests, the default of the setting `manifest`. Puppet
/// treats it as empty if it is missing.
bool is_main_manifest(std::string_view path, std::string_view environment) {
    while (path.ends_with('/')) path.remove_suffix(1);
    return sys::base_name(path) == "manifests" &&
           sys::base_name(sys::directory_name(path)) == environment;
}

/// Calls the classifier that the settings name. Returns nullopt if they name none.
std::optional<compiler::Classification> ask_classifier(const config::Settings& settings,
                                                       base::Arena& arena, const std::string& node,
                                                       bool ends_run) {
    if (settings.text("node_terminus") != "exec") return std::nullopt;
    std::optional<compiler::Classification> answer;
    try {
        answer = ask_external_nodes(arena, *sys::make_real_processes(),
                                    settings.text("external_nodes"), node);
    } catch (const PuppetError& e) {
        throw base::plain_error(
            ends_run ? "Could not run: " + e.message()
                     : fmt::format("Failed when searching for node {}: {}", node, e.message()));
    }
    if (!answer) {
        throw base::plain_error(
            ends_run ? fmt::format("Could not run: Could not find node {}", node)
                     : fmt::format("Could not find node '{}'; cannot compile", node));
    }
    return answer;
}

class Stopwatch {
public:
    explicit Stopwatch(std::vector<compiler::Pass>& passes) : passes_(passes) {}
    void pass(std::string_view name) {
        const auto now = std::chrono::steady_clock::now();
        passes_.push_back({name, (now - since_).count()});
        since_ = now;
    }

private:
    std::vector<compiler::Pass>& passes_;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace

struct Site::Impl {
    Impl(config::Settings s, Options o)
        : settings(std::move(s)),
          options(std::move(o)),
          log(options.log),
          workers(options.threads, options.queue),
          ruby(std::make_shared<ruby::WorkerLimit>(options.ruby_children ? options.ruby_children
                                                                         : 2 * workers.threads())),
          answers(answers_of(settings)) {}

    /// Returns the cache for results of Ruby functions.
    static std::shared_ptr<ruby::Answers> answers_of(const config::Settings& from) {
        const auto name = from.text("ruby_answers");
        const auto mode = ruby::Answers::mode_named(name);
        if (!mode)
            throw base::plain_error(
                fmt::format("Invalid ruby_answers '{}': expected on, off or check", name));
        return std::make_shared<ruby::Answers>(ruby::answers_folder(from.text("ruby_cachedir")),
                                               *mode);
    }

    std::shared_ptr<const View> view(const Overlay& overlay) {
        return views.get(key_of(overlay), [&] {
            return std::make_shared<const View>(settings, overlay, options.store,
                                                options.user_agent);
        });
    }

    /// Returns an environment that was opened with `files`, which may be null. Null if there is
    /// none.
    std::shared_ptr<const environment::Environment> opened_with(const environment::Files* files,
                                                                std::string_view name) {
        const auto home =
            files ? homes.find_if([&](const auto& state) { return state.files.get() == files; })
                  : nullptr;
        return home ? home->snapshots.known(name) : nullptr;
    }

    struct Opened {
        std::shared_ptr<const environment::Environment> environment;
        std::shared_ptr<hiera::DataCache> data;
    };
    /// Returns the files of the commit that a request names, or null for the files of the disk.
    std::shared_ptr<const environment::Files> files_of(const environment::Spec& spec,
                                                       const config::Settings& of_view,
                                                       const std::string& revision) {
        if (revision.empty()) return nullptr;
        const std::string folder = folder_of(spec, of_view);
        std::string key;
        add(key, folder);
        add(key, revision);
        return commits.get(key, [&] {
            auto opened = environment::CommitFiles::open(folder, revision);
            if (!opened) throw base::plain_error(opened.error().message);
            const auto& commit = **opened;
            if (const auto missing = commit.submodules(); !missing.empty()) {
                log.log(base::Level::Warning,
                        fmt::format("Commit {} of {} does not hold the files of its submodules: {}",
                                    commit.version(), commit.root(), fmt::join(missing, ", ")));
            }
            return std::move(*opened);
        });
    }

    Opened open(const View& view, const NodeRequest& request) {
        auto spec = spec_of(view.settings(), request.sources);
        spec.files = request.sources.files
                         ? request.sources.files
                         : files_of(spec, view.settings(), request.sources.revision);
        if (!spec.files) spec.files = options.files;
        const std::string name = spec.name;
        auto home = homes.get(key_of(request.overlay, request.sources), [&] {
            environment::Snapshots::Options all;
            all.spec = std::move(spec);
            all.spec.reads = request.sources.reads;
            all.previous = [this, other = request.sources.previous](std::string_view environment) {
                return opened_with(other.lock().get(), environment);
            };
            all.directory_required = false;
            all.own_timeouts = !options.environment_timeout.empty();
            all.timeout = all.own_timeouts ? options.environment_timeout : "unlimited";
            return std::make_shared<EnvironmentState>(std::move(all));
        });
        auto opened = home->snapshots.get(name, log);
        if (!opened) throw base::plain_error(opened.error().message);
        (*opened)->attached<ruby::WorkerLimit>([this] { return ruby; });
        (*opened)->attached<ruby::Answers>([this] { return answers; });
        return {std::move(*opened), home->data};
    }

    /// Sets the limits of a session. Throws base::PuppetError if a setting is invalid.
    void set_limits(const NodeRequest& request, Session::Parts& parts) const {
        parts.memory = options.memory;
        if (!request.time && options.time) parts.time = *options.time;
        const bool own_time = request.time || options.time;
        if (own_time && parts.memory != 0) return;
        const auto limits = config::compile_limits(
            parts.view->settings(), {.time_ms = 0, .memory_bytes = std::int64_t{4} << 30});
        if (!limits) throw base::plain_error(limits.error().message);
        if (!own_time) parts.time = std::chrono::milliseconds(limits->time_ms);
        if (parts.memory == 0) parts.memory = static_cast<std::size_t>(limits->memory_bytes);
    }

    const config::Settings settings;
    const Options options;
    Shared log;
    RecentItems<const View> views;
    RecentItems<const environment::CommitFiles> commits;
    RecentItems<EnvironmentState> homes;
    Workers workers;
    std::shared_ptr<ruby::WorkerLimit> ruby;
    std::shared_ptr<ruby::Answers> answers;
};

Site::Site(config::Settings settings, Options options)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(options))) {}
Site::~Site() { impl_->workers.finish(); }

const config::Settings& Site::settings() const { return impl_->settings; }
const Options& Site::options() const { return impl_->options; }
Workers& Site::workers() { return impl_->workers; }
std::size_t Site::ruby_workers() const { return impl_->ruby->children(); }

std::string Site::node_name(const NodeRequest& request) const {
    std::string name = request.node;
    if (name.empty()) name = impl_->settings.text("node_name_value");
    return name.empty() ? "localhost" : name;
}

std::unique_ptr<Session> Site::session(NodeRequest request, base::LogSink& log) {
    Session::Parts parts;
    parts.explain_errors = impl_->options.explain_errors;
    Stopwatch watch(parts.timings);
    std::string node = node_name(request);
    parts.view = impl_->view(request.overlay);
    impl_->set_limits(request, parts);
    if (!request.arena) request.arena = std::make_shared<base::Arena>(256 * 1024, parts.memory);
    const auto& manifest = request.sources.manifest;
    const auto wanted = parts.view->settings().text("environment");
    const auto check_manifest = [&](const environment::Files& files) {
        if (!manifest.empty() && !files.stat(manifest).exists &&
            (request.compile_mode.manifest_required || !is_main_manifest(manifest, wanted)))
            throw base::plain_error(fmt::format("Could not find file {}", manifest));
    };
    const bool elsewhere = request.sources.files || !request.sources.revision.empty();
    if (!elsewhere) check_manifest(*environment::disk_files());

    if (std::holds_alternative<ClassifierOfSettings>(request.classification)) {
        auto answer = ask_classifier(parts.view->settings(), *request.arena, node,
                                     request.compile_mode.ends_run);
        request.classification = answer ? ClassificationSource(std::move(*answer)) : Unclassified();
    }
    // The classifier's environment overrides that of the request.
    const auto* classified = std::get_if<compiler::Classification>(&request.classification);
    const std::string chosen = classified ? classified->environment : "";
    if (!chosen.empty() && chosen != wanted) {
        request.overlay.set("environment", chosen);
        parts.view = impl_->view(request.overlay);
    }
    if (request.choose_sources)
        request.choose_sources(parts.view->settings().text("environment"), request.sources);
    watch.pass("classify");

    auto opened = impl_->open(*parts.view, request);
    const bool described = request.sources.modulepath && !request.overlay.find("environmentpath") &&
                           !request.compile_mode.folder_required;
    const auto& settings = parts.view->settings();
    if (opened.environment->directory().empty() && !described && !may_be_missing(settings)) {
        throw base::plain_error(!chosen.empty() && !request.compile_mode.ends_run
                                    ? fmt::format("Failed when searching for node {}: {}", node,
                                                  environment_missing(settings))
                                    : environment_missing(settings));
    }
    parts.environment = std::move(opened.environment);
    if (elsewhere) check_manifest(parts.environment->files());
    parts.data = std::move(opened.data);
    watch.pass("environment");
    return std::make_unique<Session>(std::move(request), std::move(node), std::move(parts), log);
}

Compiled Site::compile(NodeRequest request, base::LogSink& log) {
    return session(std::move(request), log)->compile();
}

std::future<Compiled> Site::submit(NodeRequest request, std::shared_ptr<base::LogSink> log) {
    if (impl_->options.time.value_or(std::chrono::milliseconds(0)).count() > 0 && !request.deadline)
        request.deadline = std::chrono::steady_clock::now() + *impl_->options.time;
    auto promise = std::make_shared<std::promise<Compiled>>();
    auto future = promise->get_future();
    auto work = [this, promise, request = std::move(request), log = std::move(log)]() mutable {
        try {
            if (request.deadline && std::chrono::steady_clock::now() >= *request.deadline)
                throw PuppetError("execution expired", "EXPIRED", PuppetError::Class::Plain);
            promise->set_value(compile(std::move(request), *log));
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
    };
    if (!impl_->workers.try_post(std::move(work))) {
        promise->set_exception(std::make_exception_ptr(
            base::plain_error(fmt::format("{} compiles wait already", impl_->options.queue))));
    }
    return future;
}

std::shared_ptr<const environment::Environment> Site::environment(const NodeRequest& request) {
    return impl_->open(*impl_->view(request.overlay), request).environment;
}

void Site::store(const Compiled& compiled, base::LogSink& log) {
    const View::Connection store(compiled.view, log);
    store->store_catalog({compiled.node, compiled.facts, compiled.trusted}, *compiled.catalog,
                         *compiled.naming,
                         {.transaction_uuid = {}, .job_id = {}, .collected = compiled.collected});
}

std::shared_ptr<const View> Site::view(const Overlay& overlay) { return impl_->view(overlay); }

View::Connection Site::store(base::LogSink& log, const Overlay& overlay) {
    return View::Connection(impl_->view(overlay), log);
}

void Site::forget(const environment::Files& files) {
    impl_->homes.erase_if(
        [&](const EnvironmentState& state) { return state.files.get() == &files; });
}

void Site::clear() {
    impl_->homes.clear();
    impl_->commits.clear();
    impl_->views.clear();
}

}  // namespace bunraku::site
