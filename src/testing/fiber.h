// SPDX-License-Identifier: Apache-2.0
// A separate stack for work that can be suspended and resumed; for simulations.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace bunraku::sys {

/// Runs one body after the other. It must be entered and left on the same thread.
class Fiber {
public:
    explicit Fiber(std::size_t stack_bytes);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Sets the body that the next enter() starts. The previous body must have ended.
    void begin(std::move_only_function<void()> body);
    /// Runs until the body calls leave() or ends.
    void enter();
    /// Called by the body: returns to the caller of enter().
    void leave();
    bool ended() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::sys
