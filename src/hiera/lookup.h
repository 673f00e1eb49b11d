// Hiera 5: lookup through the global, environment and module layers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "environment/environment.h"
#include "evaluator/host.h"
#include "evaluator/interpreter.h"
#include "hiera/config.h"
#include "hiera/explain.h"
#include "hiera/key.h"
#include "hiera/merge.h"

namespace bunraku::hiera {

/// Parsed data files, shared by all compiles of an environment; a file is read anew when its stat
/// changes.
class DataCache {
public:
    struct File {
        base::Arena arena;
        Value data;         ///< undef where the file holds nothing
        std::string text;   ///< only of hiera.yaml
        std::string error;  ///< why it could not be parsed; empty: it could
    };
    enum class Format { Yaml, Json };
    /// The file's data; null where it cannot be read.
    std::shared_ptr<const File> load(const std::string& path, Format format,
                                     bool keep_text = false);

private:
    struct Slot {
        std::int64_t mtime_ns = 0;
        std::uint64_t size = 0, inode = 0;
        std::shared_ptr<const File> file;
    };
    std::mutex mutex_;
    std::unordered_map<std::string, Slot> slots_;
};

struct LookupOptions {
    std::string hiera_config;  ///< the global hiera.yaml; may not exist
    std::string codedir;
    bool strict_error = true;     ///< setting `strict` is error
    bool warn_deprecated = true;  ///< `strict` is not off
};

/// Puppet::Pops::Lookup of one compile (8.11). Single-threaded; the cache behind it is shared.
class Lookup final : public evaluator::LookupHost {
public:
    Lookup(std::shared_ptr<const environment::Environment> environment,
           std::shared_ptr<DataCache> cache, LookupOptions options);
    ~Lookup();

    Value lookup(evaluator::Interpreter& in, evaluator::Scope& scope, std::span<const Value> args,
                 const evaluator::Callable* block) override;
    std::optional<Value> class_parameter(evaluator::Interpreter& in, evaluator::Scope& scope,
                                         std::string_view class_name, std::string_view parameter,
                                         const types::Type* type) override;
    Value hiera(evaluator::Interpreter& in, evaluator::Scope& scope, std::string_view merge,
                std::span<const Value> args, const evaluator::Callable* block) override;
    std::optional<Value> context_method(evaluator::Interpreter& in, evaluator::Scope& scope,
                                        const Value& context, std::string_view method,
                                        std::span<const Value> args,
                                        const evaluator::Callable* block) override;

    /// One key, with what happened written to `explainer` (may be null); nullopt: not found.
    std::optional<Value> search(evaluator::Interpreter& in, evaluator::Scope& scope,
                                std::string_view key, const Value& merge, Explainer* explainer);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::hiera
