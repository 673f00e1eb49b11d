// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "core/base/work_limit.h"
#include "testing/fiber.h"

namespace bunraku::sys {

namespace {

/// SplitMix64, which returns the same numbers with every library.
struct Random {
    std::uint64_t state;
    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t most) { return most < 2 ? 0 : next() % most; }
};

/// The start of the monotonic clock. It is not zero, because some code treats zero as "never".
constexpr std::int64_t kBegin = 3'600'000'000'000;

class SimulatedExecutor;
class SimulatedWatch;

/// A unit that runs or waits: a task on its fiber, or, without a fiber, the outer thread.
struct Actor {
    std::unique_ptr<Fiber> fiber;
    bool ready = false;
    bool timed_out = false;
    std::vector<void*>* waiters = nullptr;  ///< the list that contains this actor
    std::uint64_t timer = 0;                ///< the timer that ends the wait
};

}  // namespace

struct Simulation::Impl {
    SimulationOptions options;
    Random random;
    std::int64_t time = kBegin;
    std::vector<SimulatedExecutor*> startable;  ///< executors that may have a task to start
    std::vector<Actor*> ready, idle_actors;
    std::vector<std::unique_ptr<Actor>> actors;
    Actor outside;
    Actor* current = &outside;
    std::map<std::pair<std::int64_t, std::uint64_t>, std::move_only_function<void()>> timers;
    std::unordered_map<std::uint64_t, std::int64_t> timer_times;
    std::uint64_t next_timer = 1;
    std::vector<SimulatedWatch*> watches;
    std::vector<std::string> events;
    std::uint64_t turns = 0;
    std::uint64_t digest = 0xcbf29ce484222325ULL;

    Impl(std::uint64_t seed, SimulationOptions o) : options(o), random{seed} {}

    std::uint64_t set_timer(std::int64_t at, std::move_only_function<void()> what) {
        std::uint64_t timer = next_timer++;
        timers.emplace(std::pair(std::max(at, time), timer), std::move(what));
        timer_times[timer] = std::max(at, time);
        return timer;
    }
    bool drop_timer(std::uint64_t timer) {
        auto at = timer_times.find(timer);
        if (at == timer_times.end()) return false;
        auto dropped = timers.extract({at->second, timer});
        timer_times.erase(at);
        return true;
    }
    void make_ready(Actor& actor) {
        actor.ready = true;
        if (actor.fiber) ready.push_back(&actor);
    }
    void suspend();
    void step();
    void begin_task(SimulatedExecutor& executor);
    void end_wait(Actor& actor, bool timed_out);
};

namespace {

class SimulatedExecutor final : public Executor {
public:
    SimulatedExecutor(Simulation& simulation, Simulation::Impl& sim_impl, ExecutorOptions options)
        : sim_impl_(sim_impl), options_(std::move(options)), ended_(simulation) {
        options_.threads = std::max(1, options_.threads);
    }
    ~SimulatedExecutor() override {
        stop();
        std::erase(sim_impl_.startable, this);
    }
    TimePoint now() override { return TimePoint(std::chrono::nanoseconds(sim_impl_.time)); }
    bool post(Task task) override {
        if (options_.limit > 0 && tasks_.size() >= options_.limit) return false;
        return post_more(std::move(task));
    }
    bool post_more(Task task) override {
        if (stopping_) return false;
        tasks_.push_back(std::move(task));
        list();
        return true;
    }
    Timer post_after(Duration delay, Task task) override {
        if (stopping_) return 0;
        auto own = std::make_shared<Timer>(0);
        std::int64_t at = sim_impl_.time + std::chrono::nanoseconds(delay).count();
        *own = sim_impl_.set_timer(at, [this, own, task = std::move(task)]() mutable {
            timers_.erase(*own);
            tasks_.push_back(std::move(task));
            list();
        });
        timers_.insert(*own);
        return *own;
    }
    bool cancel(Timer timer) override {
        if (timers_.erase(timer) == 0) return false;
        return sim_impl_.drop_timer(timer);
    }
    std::size_t waiting() const override { return tasks_.size(); }
    void stop() override {
        stopping_ = true;
        for (Timer timer : timers_) sim_impl_.drop_timer(timer);
        timers_.clear();
        std::mutex mutex;
        std::unique_lock lock(mutex);
        ended_.wait(lock, [this] { return running_ == 0 && tasks_.empty(); });
    }

    bool can_begin() const {
        return !tasks_.empty() && running_ < static_cast<std::size_t>(options_.threads);
    }
    bool listed = false;  ///< true if it is in Impl::beginning

    /// With n free threads, any of the first n tasks may start first.
    Task take(Random& random) {
        std::size_t free = static_cast<std::size_t>(options_.threads) - running_;
        auto at = static_cast<std::ptrdiff_t>(random.below(std::min(free, tasks_.size())));
        Task task = std::move(tasks_[static_cast<std::size_t>(at)]);
        tasks_.erase(tasks_.begin() + at);
        ++running_;
        return task;
    }
    void run(Task task) {
        std::string error;
        try {
            task();
        } catch (const std::exception& e) {
            error = e.what();
        } catch (...) {
            error = "unknown exception";
        }
        task = nullptr;
        if (!error.empty() && options_.error) options_.error(error);
        --running_;
        list();
        if (stopping_) ended_.notify_all();
    }

private:
    void list() {
        if (listed || !can_begin()) return;
        listed = true;
        sim_impl_.startable.push_back(this);
    }
    Simulation::Impl& sim_impl_;
    ExecutorOptions options_;
    std::deque<Task> tasks_;
    std::set<Timer> timers_;
    std::size_t running_ = 0;
    bool stopping_ = false;
    Condition ended_;
};

class SimulatedWatch final : public Watch {
public:
    SimulatedWatch(Simulation::Impl& sim_impl, std::vector<std::string> paths,
                   std::function<void()> changed)
        : sim_impl_(sim_impl), paths_(std::move(paths)), changed_(std::move(changed)) {
        sim_impl_.watches.push_back(this);
        if (!sim_impl_.options.reports_file_changes) schedule_check(Runtime::kLookPause);
    }
    ~SimulatedWatch() override {
        std::erase(sim_impl_.watches, this);
        sim_impl_.drop_timer(timer_);
    }
    void on_file_changed(std::string_view path) {
        if (timer_ == 0 && std::ranges::any_of(paths_, [&](const std::string& own) {
                return within(own, path) || within(path, own);
            }))
            schedule_check(Runtime::kWatchPause);
    }

private:
    /// Also matches files deeper in the folder, which only causes a superfluous check.
    static bool within(std::string_view path, std::string_view folder) {
        return path.starts_with(folder) &&
               (path.size() == folder.size() || path[folder.size()] == '/');
    }
    void schedule_check(Duration time) {
        timer_ =
            sim_impl_.set_timer(sim_impl_.time + std::chrono::nanoseconds(time).count(), [this] {
                timer_ = 0;
                if (!sim_impl_.options.reports_file_changes) schedule_check(Runtime::kLookPause);
                changed_();
            });
    }
    Simulation::Impl& sim_impl_;
    const std::vector<std::string> paths_;
    const std::function<void()> changed_;
    std::uint64_t timer_ = 0;
};

}  // namespace

/// Starts a task on a fiber, an idle one if available.
void Simulation::Impl::begin_task(SimulatedExecutor& executor) {
    if (idle_actors.empty()) {
        idle_actors.push_back(actors.emplace_back(std::make_unique<Actor>()).get());
        idle_actors.back()->fiber = std::make_unique<Fiber>(options.stack_bytes);
    }
    Actor* actor = idle_actors.back();
    idle_actors.pop_back();
    ++turns;
    actor->fiber->begin(
        [&executor, task = executor.take(random)]() mutable { executor.run(std::move(task)); });
    ready.push_back(actor);
}

/// Resumes one ready actor, or advances time.
void Simulation::Impl::step() {
    std::erase_if(startable, [](SimulatedExecutor* e) { return !(e->listed = e->can_begin()); });
    std::size_t choices = ready.size() + startable.size();
    if (choices == 0) {
        if (timers.empty()) throw std::logic_error("Deadlock: all tasks wait and no timer is set");
        auto due = timers.extract(timers.begin());
        time = std::max(time, due.key().first);
        timer_times.erase(due.key().second);
        ++turns;
        due.mapped()();
        return;
    }
    std::size_t chosen = random.below(choices);
    if (chosen >= ready.size()) {
        begin_task(*startable[chosen - ready.size()]);
        chosen = ready.size() - 1;
    }
    Actor* actor = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    current = actor;
    actor->fiber->enter();
    current = &outside;
    if (actor->fiber->ended()) idle_actors.push_back(actor);
}

/// Suspends the current actor until make_ready().
void Simulation::Impl::suspend() {
    // A limit belongs to the task, not to the thread that runs all tasks.
    base::WorkLimit* const limit = base::WorkLimit::exchange(nullptr);
    if (current->fiber) {
        current->fiber->leave();
    } else {
        while (!outside.ready) step();
    }
    base::WorkLimit::exchange(limit);
}

void Simulation::Impl::end_wait(Actor& actor, bool timed_out) {
    actor.timed_out = timed_out;
    if (actor.waiters) std::erase(*actor.waiters, static_cast<void*>(&actor));
    actor.waiters = nullptr;
    if (!timed_out && actor.timer != 0) drop_timer(actor.timer);
    actor.timer = 0;
    make_ready(actor);
}

Simulation::Simulation(std::uint64_t seed, SimulationOptions options)
    : impl_(std::make_unique<Impl>(seed, options)) {}

Simulation::~Simulation() = default;

std::int64_t Simulation::now_ns() { return impl_->options.begins_at_ns + impl_->time - kBegin; }
std::int64_t Simulation::monotonic_ns() { return impl_->time; }

void Simulation::sleep_ns(std::int64_t ns) {
    Actor& actor = *impl_->current;
    actor.ready = false;
    actor.timer = 0;
    impl_->set_timer(impl_->time + std::max<std::int64_t>(0, ns),
                     [this, &actor] { impl_->make_ready(actor); });
    impl_->suspend();
}

std::unique_ptr<Executor> Simulation::executor(ExecutorOptions options) {
    return std::make_unique<SimulatedExecutor>(*this, *impl_, std::move(options));
}

std::unique_ptr<Watch> Simulation::watch(std::vector<std::string> paths,
                                         std::function<void()> changed) {
    return std::make_unique<SimulatedWatch>(*impl_, std::move(paths), std::move(changed));
}

void Simulation::file_changed(std::string_view path) {
    for (auto* watch : impl_->watches) watch->on_file_changed(path);
}

/// The same value on every machine.
int Simulation::cores() { return 4; }

bool Simulation::run_until(const std::function<bool()>& ready, Duration timeout) {
    TimePoint end = now() + timeout;
    auto timer = impl_->set_timer(std::chrono::nanoseconds(end.time_since_epoch()).count(), [] {});
    while (!ready()) {
        if (now() >= end) return false;
        impl_->step();
    }
    impl_->drop_timer(timer);
    return true;
}

void Simulation::step_clock(Duration by) {
    impl_->options.begins_at_ns += std::chrono::nanoseconds(by).count();
}

void Simulation::leap(Duration time) { impl_->time += std::chrono::nanoseconds(time).count(); }

std::uint64_t Simulation::random(std::uint64_t most) { return impl_->random.below(most); }

void Simulation::note(std::string_view event) {
    std::string line =
        fmt::format("{:.3f} ms {}", static_cast<double>(impl_->time - kBegin) / 1'000'000.0, event);
    for (char c : line) {
        impl_->digest = (impl_->digest ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    if (impl_->options.keep_events) impl_->events.push_back(std::move(line));
}

std::uint64_t Simulation::turns() const { return impl_->turns; }
const std::vector<std::string>& Simulation::events() const { return impl_->events; }
std::uint64_t Simulation::events_digest() const { return impl_->digest; }

bool Simulation::wait(Condition& condition, std::unique_lock<std::mutex>& lock,
                      TimePoint deadline) {
    Actor& actor = *impl_->current;
    actor.ready = actor.timed_out = false;
    actor.waiters = &waiters(condition);
    actor.waiters->push_back(&actor);
    if (deadline != Condition::kForever) {
        actor.timer =
            impl_->set_timer(std::chrono::nanoseconds(deadline.time_since_epoch()).count(),
                             [this, &actor] { impl_->end_wait(actor, true); });
    }
    lock.unlock();
    impl_->suspend();
    lock.lock();
    return !actor.timed_out;
}

void Simulation::notify(Condition& condition, bool all) {
    std::vector<void*>& waiting = waiters(condition);
    while (!waiting.empty()) {
        auto* actor = static_cast<Actor*>(waiting[impl_->random.below(waiting.size())]);
        impl_->end_wait(*actor, false);
        if (!all) return;
    }
}

}  // namespace bunraku::sys
