// SPDX-License-Identifier: Apache-2.0
// The children of one environment, and the cached descriptions of its Ruby files.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <glob.h>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stop_token>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/ruby/child_host.h"
#include "language/ruby/describe.h"

namespace bunraku::ruby {

namespace {

// Version of the descriptions that share/ruby returns. Increment it when they change, so that older
// cache entries become invalid.
constexpr std::string_view kCacheVersion = "4";

std::optional<std::string> read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string digest_of(std::string_view text) {
    return codec::hex_digest(codec::DigestKind::Sha256, text);
}

/// Returns the path at which the children find a file.
std::string place_of(const HostOptions& options, const std::string& path) {
    return options.moved ? options.moved->placed(path) : path;
}

/// Returns the current result of a read as a text that is equal for equal results. Returns nullopt
/// if the result is unknown without Ruby.
std::optional<std::string> state_of(const HostOptions& options, const ReadNote& note) {
    std::error_code failed;
    const auto place = place_of(options, note.name);
    if (note.kind == "code" || note.kind == "file") {
        const auto text = read_text(place);
        return text ? digest_of(*text) : "absent";
    }
    if (note.kind == "exists") {
        const auto status = std::filesystem::status(place, failed);
        return std::to_string(static_cast<int>(status.type()));
    }
    if (note.kind == "folder") {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(place, failed))
            names.insert(entry.path().filename());
        return digest_of(fmt::format("{}", fmt::join(names, "\n")));
    }
    if (note.kind == "glob") {
        glob_t found{};
        std::string paths;
        if (::glob(place.c_str(), GLOB_BRACE, nullptr, &found) == 0)
            for (std::size_t i = 0; i < found.gl_pathc; ++i)
                paths.append(found.gl_pathv[i]) += '\n';
        ::globfree(&found);
        return digest_of(options.moved ? options.moved->named(paths) : paths);
    }
    if (note.kind == "variable") {
        if (note.name == "*") {
            std::string all;
            for (char** at = environ; *at; ++at) all.append(*at) += '\n';
            return digest_of(all);
        }
        const char* value = std::getenv(note.name.c_str());
        return value ? digest_of(value) : "absent";
    }
    if (note.kind == "feature") {
        // Providers do not affect a type's attributes. For other names, the first existing file
        // counts.
        if (note.name.ends_with('*')) return "";
        for (const auto& path : candidates(options, note.name))
            if (std::filesystem::is_regular_file(place_of(options, path), failed)) return path;
        return "absent";
    }
    // During a cache's lifetime, neither the machine's identity nor Ruby's own libraries change.
    if (note.kind == "host" || note.kind == "library") return "";
    return std::nullopt;
}

void make_directories(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        ::mkdir(path.substr(0, at).c_str(), 0700);
        if (at == std::string::npos) return;
    }
}

/// The cache is optional, so write errors are ignored.
void write_atomically(const std::string& directory, const std::string& name,
                      std::string_view text) {
    make_directories(directory);
    std::string temporary = fmt::format("{}/.{}.XXXXXX", directory, name);
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return;
    const auto n = ::write(fd, text.data(), text.size());
    ::close(fd);
    const auto target = fmt::format("{}/{}", directory, name);
    if (n != static_cast<ssize_t>(text.size()) ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
        ::unlink(temporary.c_str());
    }
}

}  // namespace

struct WorkerLimit::Impl {
    explicit Impl(std::size_t n) : most(n) {}
    const std::size_t most;
    std::mutex mutex;  // Locked before the mutex of a pool.
    std::vector<Pool::Impl*> pools;

    std::size_t children() const;
    std::unique_ptr<Host> oldest_idle() const;
    /// Ends idle children until one more is allowed.
    void evict_idle();
};

struct Pool::Impl final : Recorder {
    ~Impl() override {
        if (!options.worker_limit) return;
        auto& worker_limit = *options.worker_limit->impl_;
        const std::lock_guard lock(worker_limit.mutex);
        std::erase(worker_limit.pools, this);
    }
    void settle() {
        if (!options.worker_limit) return;
        auto& worker_limit = *options.worker_limit->impl_;
        const std::lock_guard lock(worker_limit.mutex);
        worker_limit.pools.push_back(this);
    }
    std::size_t children() {
        const std::lock_guard lock(mutex);
        return idle.size() + working;
    }

    HostOptions options;
    std::size_t working = 0;  // Taken from the pool.
    std::mutex mutex;
    struct Idle {
        std::unique_ptr<Host> host;
        Process::Clock::time_point since;
    };
    std::deque<Idle> idle;  // The longest idle first.
    std::condition_variable_any idle_changed;
    std::map<std::string, FunctionInfo> functions;
    std::map<std::string, TypeInfo> types;
    std::map<std::string, DataTypeInfo> data_types;
    std::unordered_map<std::string, Profile::Entry> times;
    std::int64_t start_time = 0;
    int starts = 0;
    // Last member, so that it ends before the members that it uses are destroyed.
    std::jthread reaper;

    /// Ends children that were idle for too long. Otherwise the children of a burst would remain
    /// for the lifetime of the environment.
    void reap(const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            if (idle.empty()) {
                idle_changed.wait(lock, stop, [this] { return !idle.empty(); });
                continue;
            }
            const auto until = idle.front().since + options.idle_for;
            if (Process::Clock::now() < until) {
                idle_changed.wait_until(lock, stop, until, [] { return false; });
                continue;
            }
            Idle old = std::move(idle.front());
            idle.pop_front();
            lock.unlock();
            old.host.reset();
            lock.lock();
        }
    }

    void give_back(std::unique_ptr<Host> host) {
        Idle too_many;  // Destroyed outside the lock.
        const std::lock_guard lock(mutex);
        BUNRAKU_ASSERT(host && working > 0);
        BUNRAKU_ASSERT(idle.empty() || idle.back().since <= Process::Clock::now());
        --working;
        idle.push_back({std::move(host), Process::Clock::now()});
        if (idle.size() > options.most_idle) {
            too_many = std::move(idle.front());
            idle.pop_front();
        }
        if (!reaper.joinable())
            reaper = std::jthread([this](const std::stop_token& stop) { reap(stop); });
        idle_changed.notify_one();
    }

    void started(std::int64_t nanoseconds) override {
        const std::lock_guard lock(mutex);
        ++starts;
        start_time += nanoseconds;
    }
    void spent(std::string name, std::int64_t nanoseconds) override {
        const std::lock_guard lock(mutex);
        auto& entry = times[name];
        if (entry.name.empty()) entry.name = std::move(name);
        BUNRAKU_ASSERT(nanoseconds >= 0);
        ++entry.calls;
        entry.nanoseconds += nanoseconds;
    }

    std::string cache_name(const std::string& file, std::string_view content) const {
        return digest_of(fmt::format("{}\n{}\n{}", kCacheVersion, file, content)) + ".json";
    }

    /// Returns the cached description if the file and all of its reads are unchanged.
    template <class Info>
    std::optional<Info> cached(const std::string& file, std::string_view content,
                               Info (*describe)(const Value&)) const {
        const auto text =
            read_text(fmt::format("{}/{}", options.cache_directory, cache_name(file, content)));
        if (!text) return std::nullopt;
        base::Arena arena(16384);
        const auto data = value::parse_json(arena, *text);
        if (!data || !data->is_hash()) return std::nullopt;
        Info info = describe(*data);
        const Value* states = data->as_hash().find("states");
        if (!states || !states->is_array() || states->as_array().size() != info.reads.size())
            return std::nullopt;
        for (std::size_t i = 0; i < info.reads.size(); ++i)
            if (state_of(options, info.reads[i]) != value::to_text(states->as_array()[i]))
                return std::nullopt;
        return info;
    }

    void remember(const std::string& file, std::string_view content, const Value& data) const {
        base::Arena arena(16384);
        const Value* reads = data.as_hash().find("reads");
        std::vector<Value> states;
        for (const auto& note : read_notes(reads && reads->is_array() ? reads->as_array()
                                                                      : std::span<const Value>())) {
            const auto state = state_of(options, note);
            if (!state) return;
            states.push_back(value::make_string(arena, *state));
        }
        value::HashBuilder with_states(arena);
        with_states.merge(data.as_hash());
        with_states.set("states", value::make_array(arena, states));
        write_atomically(options.cache_directory, cache_name(file, content),
                         value::to_json(with_states.build()));
    }
};

std::size_t WorkerLimit::Impl::children() const {
    std::size_t sum = 0;
    for (auto* pool : pools) sum += pool->children();
    return sum;
}

std::unique_ptr<Host> WorkerLimit::Impl::oldest_idle() const {
    Pool::Impl* oldest = nullptr;
    auto since = Process::Clock::time_point::max();
    for (auto* pool : pools) {
        const std::lock_guard lock(pool->mutex);
        if (pool->idle.empty() || pool->idle.front().since >= since) continue;
        oldest = pool;
        since = pool->idle.front().since;
    }
    if (!oldest) return nullptr;
    const std::lock_guard lock(oldest->mutex);
    if (oldest->idle.empty()) return nullptr;
    auto out = std::move(oldest->idle.front().host);
    BUNRAKU_ASSERT(out);
    oldest->idle.pop_front();
    return out;
}

void WorkerLimit::Impl::evict_idle() {
    std::vector<std::unique_ptr<Host>> ended;  // Destroyed outside the lock.
    const std::lock_guard lock(mutex);
    // children() includes the new one already.
    while (children() > most) {
        ended.push_back(oldest_idle());
        if (!ended.back()) return;
    }
}

WorkerLimit::WorkerLimit(std::size_t most) : impl_(std::make_unique<Impl>(most)) {}
WorkerLimit::~WorkerLimit() = default;

std::size_t WorkerLimit::children() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->children();
}

Pool::Pool(HostOptions options) : impl_(std::make_unique<Impl>()) {
    impl_->options = std::move(options);
    impl_->settle();
}
Pool::~Pool() = default;

const HostOptions& Pool::options() const { return impl_->options; }

Pool::Lease::Lease(Pool* pool, std::unique_ptr<Host> host) : pool_(pool), host_(std::move(host)) {}
Pool::Lease::Lease(Lease&& other) noexcept : pool_(other.pool_), host_(std::move(other.host_)) {}
Pool::Lease& Pool::Lease::operator=(Lease&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(host_, other.host_);
    return *this;
}
Pool::Lease::~Lease() {
    if (!host_ || !pool_) return;
    host_->end_session();
    pool_->impl_->give_back(std::move(host_));
}
Host& Pool::Lease::operator*() const {
    BUNRAKU_ASSERT(host_ && pool_);
    return *host_;
}
Host* Pool::Lease::operator->() const {
    BUNRAKU_ASSERT(host_ && pool_);
    return host_.get();
}

Pool::Lease Pool::take() {
    {
        const std::lock_guard lock(impl_->mutex);
        ++impl_->working;
        if (!impl_->idle.empty()) {
            auto host = std::move(impl_->idle.back().host);
            impl_->idle.pop_back();
            BUNRAKU_ASSERT(host);
            return Lease(this, std::move(host));
        }
    }
    try {
        if (impl_->options.worker_limit) impl_->options.worker_limit->impl_->evict_idle();
        return Lease(this, std::make_unique<ChildHost>(impl_->options, *impl_));
    } catch (...) {
        const std::lock_guard lock(impl_->mutex);
        BUNRAKU_ASSERT(impl_->working > 0);
        --impl_->working;
        throw;
    }
}

TypeInfo Pool::type_info(const std::string& file, std::string_view name, Host* via) {
    {
        const std::lock_guard lock(impl_->mutex);
        if (auto it = impl_->types.find(file); it != impl_->types.end()) return it->second;
    }
    const auto content = read_text(place_of(impl_->options, file));
    const bool cache = content && !impl_->options.cache_directory.empty();
    TypeInfo info;
    if (auto known = cache ? impl_->cached(file, *content, &describe_type) : std::nullopt) {
        info = std::move(*known);
    } else {
        Lease lease = via ? Lease() : take();
        base::Arena arena(16384);
        const Value data =
            static_cast<ChildHost&>(via ? *via : *lease).type_data(file, name, arena);
        info = describe_type(data);
        if (cache && data.is_hash()) impl_->remember(file, *content, data);
    }
    info.file = file;
    const std::lock_guard lock(impl_->mutex);
    impl_->types.emplace(file, info);
    return info;
}

const FunctionInfo& Pool::function_info(const std::string& file, std::string_view name, Host* via) {
    {
        const std::lock_guard lock(impl_->mutex);
        if (auto it = impl_->functions.find(file); it != impl_->functions.end()) return it->second;
    }
    const auto content = read_text(place_of(impl_->options, file));
    const bool cache = content && !impl_->options.cache_directory.empty();
    FunctionInfo info;
    if (auto known = cache ? impl_->cached(file, *content, &describe_function) : std::nullopt) {
        info = std::move(*known);
    } else {
        Lease lease = via ? Lease() : take();
        base::Arena arena(16384);
        const Value data =
            static_cast<ChildHost&>(via ? *via : *lease).function_data(file, name, arena);
        info = describe_function(data);
        if (cache && data.is_hash()) impl_->remember(file, *content, data);
    }
    info.file = file;
    const std::lock_guard lock(impl_->mutex);
    return impl_->functions.emplace(file, std::move(info)).first->second;
}

const DataTypeInfo& Pool::data_type_info(const std::string& file, std::string_view name,
                                         Host* via) {
    {
        const std::lock_guard lock(impl_->mutex);
        if (auto it = impl_->data_types.find(file); it != impl_->data_types.end())
            return it->second;
    }
    Lease lease = via ? Lease() : take();
    DataTypeInfo info = (via ? *via : *lease).load_data_type(file, name);
    info.file = file;
    const std::lock_guard lock(impl_->mutex);
    return impl_->data_types.emplace(file, std::move(info)).first->second;
}

std::size_t usual_children() {
    // The system call costs as much as a small compile.
    static const std::size_t count = std::max(2U, std::thread::hardware_concurrency());
    return count;
}

HostOptions usual_options() {
    HostOptions out;
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    std::string folder;
    if (cache && *cache == '/')
        folder = fmt::format("{}/bunraku/", cache);
    else if (home && *home == '/')
        folder = fmt::format("{}/.cache/bunraku/", home);
    if (!folder.empty()) {
        out.cache_directory = folder + "types";
        out.compiled = folder + "compiled";
    }
    if (const char* library = std::getenv("BUNRAKU_RUBY_LIBRARY")) out.library = library;
    return out;
}

void keep_below(HostOptions& options, const std::optional<std::string>& ruby_cachedir) {
    if (!ruby_cachedir || ruby_cachedir->empty()) return;
    options.cache_directory = *ruby_cachedir;
    options.compiled = *ruby_cachedir + "/compiled";
}

std::vector<std::string> candidates(const HostOptions& options, std::string_view feature) {
    std::vector<std::string> out;
    out.reserve(options.load_path.size());
    for (const auto& folder : options.load_path)
        out.push_back(fmt::format("{}/{}.rb", folder, feature));
    return out;
}

std::size_t Pool::idle() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->idle.size();
}

Profile Pool::profile() const {
    const std::lock_guard lock(impl_->mutex);
    Profile out;
    out.starts = impl_->starts;
    out.start_nanoseconds = impl_->start_time;
    for (const auto& [name, entry] : impl_->times) out.entries.push_back(entry);
    std::sort(out.entries.begin(), out.entries.end(), [](const auto& a, const auto& b) {
        return a.nanoseconds != b.nanoseconds ? a.nanoseconds > b.nanoseconds : a.name < b.name;
    });
    return out;
}

}  // namespace bunraku::ruby
