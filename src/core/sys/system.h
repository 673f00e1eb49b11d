// SPDX-License-Identifier: Apache-2.0
// The machine as one parameter: files, programs, clock and users.
#pragma once

#include <memory>

#include "core/sys/clock.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"
#include "core/sys/users.h"

namespace bunraku::sys {

/// The interfaces of a machine. It is passed by reference to all code that reads or changes the
/// machine.
struct System {
    FileSystem& files;
    Processes& processes;
    Clock& clock;
    Users& users;
};

/// Owns the interfaces of the real machine.
class RealSystem {
public:
    RealSystem()
        : files_(make_real_file_system()),
          processes_(make_real_processes()),
          clock_(make_real_clock()),
          users_(make_real_users()),
          system_{*files_, *processes_, *clock_, *users_} {}
    System& system() { return system_; }

private:
    std::unique_ptr<FileSystem> files_;
    std::unique_ptr<Processes> processes_;
    std::unique_ptr<Clock> clock_;
    std::unique_ptr<Users> users_;
    System system_;
};

}  // namespace bunraku::sys
