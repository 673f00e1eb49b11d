// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/puppetfile.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/number.h"
#include "language/ruby/process.h"
#include "language/ruby/share.h"

namespace bunraku::ruby {

namespace {

using base::failure;

constexpr std::chrono::seconds kPuppetfileTime{20};

/// The fields of the output, each terminated by a NUL.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_(text) {}
    bool next(std::string* out) {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) return false;
        out->assign(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return true;
    }
    bool next(int* out) {
        std::string text;
        if (!next(&text)) return false;
        const auto number = base::parse_integer<int>(text);
        *out = number.value_or(0);
        return number.has_value();
    }

private:
    std::string_view rest_;
};

std::string_view puppetfile_script() {
    for (const auto& file : embedded_files()) {
        if (file.name == "puppetfile.rb") return file.text;
    }
    return {};
}

}  // namespace

base::Result<std::vector<Declaration>> read_puppetfile(sys::Processes& processes,
                                                       const std::string& path,
                                                       std::string_view text,
                                                       const std::string& environment) {
    const std::string program = find_ruby("ruby");
    if (program.empty()) return failure("Ruby is not installed on this machine", ENOENT);
    sys::Command command;
    command.argv =
        ruby_command(program, "$bunraku_puppetfile = true;" + std::string(puppetfile_script()));
    command.argv.insert(command.argv.end(), {"--", path, environment});
    command.input = text.empty() ? std::string("\n") : std::string(text);
    command.environment = {{"RUBYOPT", std::nullopt}, {"RUBYLIB", std::nullopt}};
    command.timeout = kPuppetfileTime;
    command.output_limit = 16U << 20;
    auto done = processes.run(command);
    if (!done) return failure("Could not run Ruby: " + done.error().message);
    if (done->timed_out) {
        return failure(fmt::format("line 0: the Puppetfile did not finish within {} s",
                                   kPuppetfileTime.count()));
    }
    std::vector<Declaration> out;
    Fields fields(done->output);
    for (;;) {
        Declaration d;
        int count = 0;
        if (!fields.next(&d.word) || !fields.next(&d.line) || !fields.next(&count)) break;
        if (d.word == "end") return out;
        if (d.word == "error") {
            std::string problem;
            fields.next(&problem);
            return failure(fmt::format("line {}: {}", d.line, problem));
        }
        for (int i = 0; i < count; ++i) {
            Declaration::Argument a;
            std::string kind;
            if (!fields.next(&a.key) || !fields.next(&kind) || !fields.next(&a.text)) {
                return failure("line 0: the output of Ruby is incomplete");
            }
            using ArgumentKind = Declaration::Argument::Kind;
            a.kind = kind == "symbol"     ? ArgumentKind::Symbol
                     : kind == "constant" ? ArgumentKind::Constant
                                          : ArgumentKind::Text;
            d.arguments.push_back(std::move(a));
        }
        out.push_back(std::move(d));
    }
    std::string problem = done->errors.substr(0, done->errors.find('\n')).substr(0, 300);
    return failure(fmt::format("line 0: Ruby ended before it had evaluated the Puppetfile{}{}",
                               problem.empty() ? "" : ": ", problem));
}

}  // namespace bunraku::ruby
