// SPDX-License-Identifier: Apache-2.0
// Access to the machine: all inputs of an evaluation that are not files of its environment. No
// other code in the modules of the compiler accesses programs, the clock or random numbers
// (tools/check_layers.py).
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <unistd.h>

#include "compile/compiler/compile.h"
#include "compile/compiler/unavailable_store.h"
#include "core/value/rich_data.h"
#include "language/environment/read_answer.h"

namespace bunraku::compiler {

using environment::Read;
using environment::Trace;
using value::Value;

namespace {

void note_output(std::string_view name,
                 const base::Result<evaluator::Inputs::CommandOutput>& output) {
    if (auto* trace = Trace::current()) {
        trace->note_answer(
            Read::Command, name,
            output ? fmt::format("{} {}", output->status, output->output) : output.error().message);
    }
}

/// A temporary file, removed by the destructor.
class Scratch {
public:
    explicit Scratch(std::string_view content) {
        const int fd = ::mkostemp(path_.data(), O_CLOEXEC);
        if (fd < 0) return;
        made_ = true;
        written_ =
            ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
        ::close(fd);
    }
    ~Scratch() {
        if (made_) ::unlink(path_.c_str());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    bool written() const { return written_; }
    const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/bunrakuXXXXXX";
    bool made_ = false, written_ = false;
};

}  // namespace

std::optional<std::string> SystemInputs::read_file(std::string_view path) {
    Trace::record(Read::File, path);
    auto text = files->read(std::string(path));
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

bool SystemInputs::file_exists(std::string_view path) {
    Trace::record(Read::Exists, path);
    return files->stat(std::string(path)).exists;
}

std::vector<std::string> SystemInputs::glob(const std::string& pattern) {
    Trace::record(Read::Glob, pattern);
    return files->glob(pattern);
}

std::optional<std::string> SystemInputs::setting(std::string_view name) {
    Trace::record(Read::Setting, name);
    return setting_(name);
}

base::Result<evaluator::Inputs::CommandOutput> SystemInputs::run(
    const std::vector<std::string>& argv, const std::string& cwd) {
    if (!runner) return Inputs::run_command(argv, cwd);
    const auto* moved = files->moved();
    if (!moved) return runner(argv, cwd);
    std::vector<std::string> placed;
    for (const auto& word : argv) placed.push_back(moved->placed(word));
    auto output = runner(placed, moved->placed(cwd));
    if (output) output->output = moved->named(output->output);
    return output;
}

base::Result<evaluator::Inputs::CommandOutput> SystemInputs::run_command(
    const std::vector<std::string>& argv, const std::string& cwd) {
    auto output = run(argv, cwd);
    // The result of a program in `pure_commands` depends only on its file.
    const auto line = fmt::format("{}", fmt::join(argv, " "));
    const auto pure = environment::pure_program(setting("pure_commands").value_or(""), line);
    if (pure.empty())
        note_output(line, output);
    else
        Trace::record(Read::File, pure);
    return output;
}

base::Result<evaluator::Inputs::CommandOutput> SystemInputs::run_command_on(
    std::string_view content,
    const std::function<std::vector<std::string>(const std::string& path)>& argv,
    const std::string& cwd) {
    const Scratch file(content);
    if (!file.written()) return base::failure("no file can be written to " + file.path());
    // The read uses the name FILE, because the path of the file differs on every call.
    const std::string name = fmt::format("{}", fmt::join(argv("FILE"), " "));
    auto output = run(argv(file.path()), cwd);
    note_output(name, output);
    return output;
}

base::Result<Value> SystemInputs::store_query(const Value& query, base::Arena& arena) {
    auto answer = querier ? querier(query, arena) : Inputs::store_query(query, arena);
    if (auto* trace = Trace::current()) {
        trace->note_answer(
            Read::Query, query.is_string() ? std::string(query.as_string()) : value::to_json(query),
            answer ? value::to_json(*answer) : answer.error().message);
        if (!answer && answer.error().code == EHOSTUNREACH) trace->note(Read::Opaque, kStoreSilent);
    }
    return answer;
}

std::int64_t SystemInputs::now_ns() {
    Trace::record(Read::Clock, "");
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::uint32_t SystemInputs::random_bits() {
    Trace::record(Read::Random, "");
    std::random_device device;
    return device();
}

}  // namespace bunraku::compiler
