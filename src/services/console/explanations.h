// SPDX-License-Identifier: Apache-2.0
// Explains values of catalogs for pages: compiles the node again and records why each value is what
// it is (compile/insight/explain.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "core/base/result.h"
#include "services/server/role.h"

namespace bunraku::insight {
struct Explanation;
}
namespace bunraku::site {
class Site;
}

namespace bunraku::console {

/// What a page asks for.
struct WhyQuestion {
    std::string certname, environment;
    std::string reference;  ///< "File[/etc/motd]"
    std::string parameter;  ///< if empty, the whole resource
    bool operator<(const WhyQuestion& other) const {
        return std::tie(certname, environment, reference, parameter) <
               std::tie(other.certname, other.environment, other.reference, other.parameter);
    }
};

/// Thread-safe.
class Explanations {
public:
    explicit Explanations(const server::Context& context);
    Explanations(const Explanations&) = delete;
    Explanations& operator=(const Explanations&) = delete;
    ~Explanations();

    /// Compiles the node with the stored facts and the present code, and explains the value. Fails
    /// if the server has no code of the environment, or if other explanations are being made.
    base::Result<std::shared_ptr<const insight::Explanation>> explain(const WhyQuestion& question);

    /// A compile takes a processor, which agents need more than readers.
    static constexpr int kMostAtOnce = 2;
    /// An explanation is shown again for this time.
    static constexpr std::int64_t kFreshMs = 30'000;

private:
    base::Result<std::shared_ptr<const insight::Explanation>> make(const WhyQuestion& question);
    site::Site& site();

    const server::Context& context_;
    std::atomic<int> running_{0};
    std::mutex mutex_;  ///< protects the members below
    std::unique_ptr<site::Site> site_;
    struct Cached {
        std::shared_ptr<const insight::Explanation> explanation;
        std::int64_t made_ms = 0;
    };
    std::map<WhyQuestion, Cached> cache_;
};

}  // namespace bunraku::console
