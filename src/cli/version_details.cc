// SPDX-License-Identifier: Apache-2.0
#include "cli/version_details.h"

#include <chrono>
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>
#include <sys/utsname.h>
#include <utility>

#include "cli/build_info.h"
#include "core/base/shared_library.h"
#include "core/base/text.h"
#include "core/sys/system.h"
#include "store/db/queue_format.h"
#include "store/db/schema.h"

namespace bunraku::cli {

namespace {

/// Appends `text` to a list with commas.
void append(std::string& list, const std::string& text) {
    if (!list.empty()) list += ", ";
    list += text;
}

/// Returns the allocator that the program was linked with.
std::string allocator() {
    // Looked up at run time, because portable programs are linked without mimalloc.
    const auto version = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "mi_version"));
    if (!version) return "C library";
    // "212" is 2.1.2; from 2.2 on, four digits more are used ("20204" is 2.2.4).
    const int number = version();
    if (number >= 10000)
        return fmt::format("mimalloc {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
    return fmt::format("mimalloc {}.{}.{}", number / 100, number / 10 % 10, number % 10);
}

/// Returns the version of a library that is loaded on demand. `divisor` separates the parts of the
/// number that `function` returns.
std::string library(const char* file, std::string_view name, const char* function, int divisor) {
    base::SharedLibrary opened(file, "");
    int (*version)() = nullptr;
    if (function) opened.find(function, version);
    if (!opened.loaded()) return fmt::format("no {}", name);
    if (!version) return std::string(name);
    const int number = version();
    return fmt::format("{} {}.{}.{}", name, number / divisor / divisor, number / divisor % divisor,
                       number % divisor);
}

/// Returns the first line that a program prints about its version, or "no NAME".
std::string program(sys::Processes& processes, const std::string& name,
                    std::vector<std::string> arguments) {
    const auto path = processes.which(name);
    if (!path) return "no " + name;
    arguments.insert(arguments.begin(), *path);
    const auto done =
        processes.run({.argv = std::move(arguments), .timeout = std::chrono::seconds(10)});
    if (!done || !done->ok()) return fmt::format("{} that does not run", *path);
    return fmt::format("{} ({})", done->output.substr(0, done->output.find('\n')), *path);
}

std::string system_name(sys::FileSystem& files) {
    std::string name = "unknown system";
    for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const auto text = files.read(path);
        if (!text) continue;
        for (std::string_view line : base::lines(*text)) {
            if (!line.starts_with("PRETTY_NAME=")) continue;
            name = line.substr(12);
            std::erase(name, '"');
        }
        break;
    }
    struct utsname kernel{};
    ::uname(&kernel);
    return fmt::format("{}, {} {}, {}", name, kernel.sysname, kernel.release, kernel.machine);
}

}  // namespace

std::vector<VersionDetail> version_details() {
    sys::RealSystem real;
    auto& system = real.system();
    const BuildFacts facts = build_facts();
    std::string libraries, programs;
    append(libraries, library("libarchive.so.13", "libarchive", "archive_version_number", 1000));
    // Since version 10, PostgreSQL's numbers have two parts: 150014 is 15.14.
    std::string postgresql = library("libpq.so.5", "libpq", "PQlibVersion", 100);
    if (const auto middle = postgresql.find(".0."); middle != std::string::npos)
        postgresql.erase(middle, 2);
    append(libraries, postgresql);
    append(libraries, library("libaugeas.so.0", "libaugeas", nullptr, 1));
    append(programs, program(system.processes, "ruby", {"-e", "print 'ruby ' + RUBY_VERSION"}));
    append(programs, program(system.processes, "git", {"--version"}));
    const auto self = system.files.read_link("/proc/self/exe");
    return {
        {"options", std::string(facts.options)},
        {"target", std::string(facts.target)},
        {"allocator", allocator()},
        {"on demand", std::move(libraries)},
        {"programs", std::move(programs)},
        {"formats", fmt::format("store schema {}, queue {}", store::newest_schema(),
                                store::queue_format::kVersion)},
        {"system", system_name(system.files)},
        {"program", self ? *self : "unknown"},
    };
}

}  // namespace bunraku::cli
