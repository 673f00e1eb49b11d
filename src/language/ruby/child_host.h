// SPDX-License-Identifier: Apache-2.0
// A Host that is backed by one Ruby process. Internal to this folder.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "language/ruby/host.h"
#include "language/ruby/process.h"
#include "language/ruby/protocol.h"

namespace bunraku::ruby {

/// Collects the times for --profile.
class Recorder {
public:
    virtual ~Recorder() = default;
    virtual void started(std::int64_t nanoseconds) = 0;
    virtual void spent(std::string name, std::int64_t nanoseconds) = 0;
};

/// Measures one call.
class Timer {
public:
    Timer(Recorder& recorder, std::string_view kind, std::string_view name)
        : recorder_(recorder), kind_(kind), name_(name), begin_(Process::Clock::now()) {}
    ~Timer() {
        recorder_.spent(std::string(kind_) + name_, (Process::Clock::now() - begin_).count());
    }
    Timer(const Timer&) = delete;

private:
    Recorder& recorder_;
    std::string_view kind_;
    std::string name_;
    Process::Clock::time_point begin_;
};

class ChildHost final : public Host {
public:
    ChildHost(const HostOptions& options, Recorder& recorder);

    void end_session() override {
        BUNRAKU_ASSERT(depth_ == 0 && !current_);
        stale_ = calls_ > 0;
        read_ = nullptr;
    }
    void on_read(std::function<void(const ReadNote&)> sink) override { read_ = std::move(sink); }
    FunctionInfo load_function(const std::string& file, std::string_view name) override;
    Value call_function(const FunctionInfo& function, int signature, std::span<const Value> args,
                        std::uint64_t block, int block_arity, Callbacks& callbacks,
                        base::Arena& arena) override;
    Value call_proc(std::uint64_t handle, std::span<const Value> args, base::Arena& arena) override;
    value::JoinedText render(std::string_view source, const std::string& file,
                             std::span<const std::pair<std::string, Value>> variables,
                             Callbacks& callbacks) override;
    TypeInfo load_type(const std::string& file, std::string_view name) override;
    void ready(std::span<const std::string> files) override;
    Value parse_title(const std::string& file, std::string_view type, std::string_view title,
                      base::Arena& arena) override;
    Value check_resource(std::string_view type, std::string_view title, const Value& parameters,
                         base::Arena& arena) override;
    DataTypeInfo load_data_type(const std::string& file, std::string_view name) override;
    Value call_method(const DataTypeInfo& type, const Value& instance_data, std::string_view method,
                      std::span<const Value> args, Callbacks& callbacks,
                      base::Arena& arena) override;
    Value ask_hiera3(const Value& request, Callbacks& callbacks, base::Arena& arena) override;
    Value manage(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                 base::Arena& arena) override;
    int generation() const override { return process_.pid(); }
    std::shared_ptr<void>& memory() override { return memory_; }
    Value facts(std::string_view verb, std::span<const Value> args, Callbacks& callbacks,
                base::Arena& arena) override;

    /// Returns Ruby's description of a function or type in the form of the disk cache.
    Value function_data(const std::string& file, std::string_view name, base::Arena& arena);
    Value type_data(const std::string& file, std::string_view name, base::Arena& arena);

private:
    /// `what` names the code that needs Ruby, for messages.
    void ensure_started(std::string_view what = {});
    void start();
    void stop();
    MarshalWriter message(std::string& body, ToRuby op, std::size_t parts,
                          ValueHooks* hooks = nullptr) const;
    Value exchange(std::string_view body, std::string_view what, Callbacks& callbacks,
                   base::Arena& arena);
    /// Decodes a message. Returns nullopt if the message needs nothing more. `simplified` is true
    /// if Simplify was requested for it, which may be done only once.
    std::optional<Value> decode(std::string_view frame, std::string_view what, Callbacks& callbacks,
                                base::Arena& arena, bool& simplified);
    /// Runs a callback and sends its result or error to Ruby.
    void reply(std::span<const Value> parts, std::string_view what, Callbacks& callbacks,
               base::Arena& arena);
    void answer(std::string& reply, std::span<const Value> parts, Callbacks& callbacks,
                base::Arena& arena);
    void limit_time(std::span<const Value> args);
    void answer_error(std::exception_ptr error, std::string_view what);
    static bool is(FromRuby op, std::string_view frame);
    void forward_reads(std::string_view frame);
    [[noreturn]] void raise(std::span<const Value> parts, std::string_view what);
    [[noreturn]] void fail(Process::Status status, std::string_view what);
    int generation_of() const { return process_.pid(); }

    const HostOptions& options_;
    Recorder& recorder_;
    std::function<void(const ReadNote&)> read_;
    Process process_;
    std::unordered_set<std::string> loaded_;
    std::shared_ptr<void> memory_;
    std::vector<std::exception_ptr> errors_;
    std::exception_ptr unwinding_;  // The exception for which Ruby code is being left.
    Process::Clock::time_point deadline_;
    Callbacks* current_ = nullptr;  // Callbacks of the innermost call.
    int depth_ = 0;
    int calls_ = 0;
    bool stale_ = false;  // True if the child holds state of an earlier compile.
};

}  // namespace bunraku::ruby
