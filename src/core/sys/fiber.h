// A stack of its own for a piece of work that can be left and entered again; for simulations.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace bunraku::sys {

/// Runs one body after the other. Entered and left on one thread only.
class Fiber {
public:
    explicit Fiber(std::size_t stack_bytes);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// What the next enter() begins. The last one has ended.
    void begin(std::move_only_function<void()> body);
    /// Runs on until the body calls leave() or ends.
    void enter();
    /// By the body: back to where it was entered.
    void leave();
    bool ended() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::sys
