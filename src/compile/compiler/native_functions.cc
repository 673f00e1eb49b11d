// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/native_functions.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/number.h"
#include "core/codec/digest.h"

namespace bunraku::compiler {

namespace {

using environment::Environment;

/// Results of native_stands_for for one environment, by the function's file.
struct Verdicts {
    std::mutex mutex;
    struct Verdict {
        NativeSupport support = NativeSupport::Never;
        environment::DependencyRecorder reads;
    };
    std::unordered_map<std::string, Verdict> by_file;
};

constexpr std::string_view kModern = "lib/puppet/functions/";
constexpr std::string_view kLegacy = "lib/puppet/parser/functions/";

/// Returns the file of the module that corresponds to a file of the table. Returns nullopt if the
/// module has none. A function that is called by name is that of the first module that defines it.
std::optional<std::string> file_of(const Environment& environment, const std::string& module,
                                   std::string_view relative) {
    for (const bool legacy : {false, true}) {
        const auto folder = legacy ? kLegacy : kModern;
        if (!relative.starts_with(folder)) continue;
        auto name = relative.substr(folder.size());
        name.remove_suffix(std::string_view(".rb").size());
        if (name.find('/') == name.npos) return environment.ruby_function_file(name, legacy);
    }
    return module + "/" + std::string(relative);
}

/// Returns the first eight bytes of a SHA-256 over names and contents, in the order of the table.
std::uint64_t digest_of_files(const Environment& environment, const std::string& module,
                              std::span<const std::string_view> files) {
    codec::Digest digest(codec::DigestKind::Sha256);
    constexpr std::string_view kEnd("\0", 1);
    for (const auto relative : files) {
        const auto file = file_of(environment, module, relative);
        if (!file) continue;
        environment.depends_on(*file);
        const auto content = environment.read(*file);
        if (!content) continue;
        digest.update(relative);
        digest.update(kEnd);
        digest.update(*content);
        digest.update(kEnd);
    }
    return base::parse_integer<std::uint64_t>(digest.hex().substr(0, 16), 16).value_or(0);
}

NativeSupport compare(const Environment& environment, const function::StdlibFunction& known,
                      const std::string& file) {
    for (const auto relative : known.files) {
        if (file.size() <= relative.size() || !file.ends_with(relative)) continue;
        const auto module = file.substr(0, file.size() - relative.size() - 1);
        const auto digest = digest_of_files(environment, module, known.files);
        if (std::ranges::binary_search(known.digests, digest)) return NativeSupport::Always;
        return std::ranges::binary_search(known.usual, digest) ? NativeSupport::UsualArguments
                                                               : NativeSupport::Never;
    }
    return NativeSupport::Never;
}

}  // namespace

NativeSupport native_stands_for(const Environment& environment,
                                const function::StdlibFunction* known, const std::string& file) {
    if (!known) return NativeSupport::Never;
    const auto verdicts =
        environment.attached<Verdicts>([] { return std::make_shared<Verdicts>(); });
    {
        std::lock_guard lock(verdicts->mutex);
        if (auto it = verdicts->by_file.find(file); it != verdicts->by_file.end()) {
            it->second.reads.note();
            return it->second.support;
        }
    }
    // Two compiles may compare at the same time; they get the same result.
    Verdicts::Verdict verdict;
    {
        const environment::DependencyRecorder::Collecting collecting(verdict.reads);
        verdict.support = compare(environment, *known, file);
    }
    std::lock_guard lock(verdicts->mutex);
    return verdicts->by_file.emplace(file, std::move(verdict)).first->second.support;
}

}  // namespace bunraku::compiler
