// SPDX-License-Identifier: Apache-2.0
#include "language/ruby/documents.h"

#include <cerrno>

#include "language/ruby/process.h"
#include "language/ruby/share.h"

namespace bunraku::ruby {

using base::failure;

base::Result<std::string> read_documents(sys::Processes& processes, const std::string& program,
                                         const std::string& folder,
                                         const std::vector<std::string>& files) {
    const std::string ruby = find_ruby(program.empty() ? "ruby" : program);
    if (ruby.empty()) return failure("Ruby is not installed on this machine", ENOENT);
    std::string script = "$bunraku_documents = true;";
    for (const auto& file : embedded_files())
        if (file.name == "documents.rb") script += file.text;
    sys::Command command;
    command.argv = {ruby,
                    "--disable=gems,did_you_mean,error_highlight,rubyopt",
                    "-EUTF-8:UTF-8",
                    "-W0",
                    "-e",
                    std::move(script),
                    "--"};
    command.argv.insert(command.argv.end(), files.begin(), files.end());
    command.cwd = folder;
    command.environment = {{"RUBYOPT", std::nullopt}, {"RUBYLIB", std::nullopt}};
    command.timeout = std::chrono::seconds(60);
    auto done = processes.run(command);
    if (!done) return failure("Could not run Ruby: " + done.error().message);
    if (!done->ok()) {
        const std::string problem = done->errors.substr(0, done->errors.find('\n')).substr(0, 300);
        return failure("Ruby could not read the files" +
                       (problem.empty() ? problem : ": " + problem));
    }
    return std::move(done->output);
}

}  // namespace bunraku::ruby
