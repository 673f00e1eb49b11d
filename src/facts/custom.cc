// Custom facts: Ruby files of modules and of FACTERLIB, run by the plugin host.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include "facts/context.h"
#include "ruby/host.h"
#include "ruby/process.h"
#include "value/rich_data.h"

namespace bunraku::facts {

namespace {

bool has_ruby_files(const std::string& directory) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
        if (entry.path().extension() == ".rb") return true;
    return false;
}

}  // namespace

std::vector<std::string> facterlib_directories() {
    std::vector<std::string> out;
    const char* given = std::getenv("FACTERLIB");
    std::string_view rest = given ? given : "";
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        if (const auto dir = rest.substr(0, colon); !dir.empty()) out.emplace_back(dir);
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
    return out;
}

bool has_custom_facts(const Options& options) {
    return std::any_of(options.custom_directories.begin(), options.custom_directories.end(),
                       has_ruby_files);
}

void collect_custom(base::Arena& arena, const Options& options, const Value& known,
                    HashBuilder& all) {
    ruby::HostOptions host;
    std::vector<std::string> directories;
    for (const auto& directory : options.custom_directories)
        if (has_ruby_files(directory)) directories.push_back(directory);
    if (directories.empty()) return;
    host.program = options.ruby_program;
    host.setting = options.setting;
    if (const char* folder = std::getenv("BUNRAKU_RUBY_LIBRARY")) host.library = folder;
    host.load_path = options.library_directories;
    for (const auto& directory : directories) {
        // lib/facter/x.rb requires what stands in lib.
        if (directory.ends_with("/facter"))
            host.load_path.push_back(directory.substr(0, directory.size() - 7));
    }
    host.timeout = std::chrono::minutes(5);
    if (ruby::find_ruby(host.program).empty()) {
        if (options.log)
            options.log->log(base::Level::Warning,
                             fmt::format("Custom facts are left out: could not find the program "
                                         "'{}'",
                                         host.program));
        return;
    }
    try {
        ruby::Pool pool(std::move(host));
        auto child = pool.take();
        const Value found = child->resolve_facts(directories, known, options.log, arena);
        if (!found.is_hash()) return;
        for (const auto& e : found.as_hash()) {
            if (e.key.is_string()) all.set(e.key, e.value);
        }
    } catch (const base::PuppetError& error) {
        if (options.log)
            options.log->log(base::Level::Err,
                             fmt::format("Could not load custom facts: {}", error.message()));
    }
}

}  // namespace bunraku::facts
