// SPDX-License-Identifier: Apache-2.0
// System libraries that only some commands need. They are opened on first use, so that other
// commands neither load nor require them (docs/design/0070).
#pragma once

#include <string>

#include "core/base/result.h"

namespace bunraku::base {

/// A shared library that stays open until the process ends.
class SharedLibrary {
public:
    /// Opens `file` ("libpq.so.5"). If the library is missing, the error message begins with
    /// `purpose`, such as "PostgreSQL support".
    SharedLibrary(const char* file, const char* purpose);

    /// Stores the address of the function `name` in `to`. Does nothing after an earlier failure.
    template <class Function>
    void find(const char* name, Function*& to) {
        to = reinterpret_cast<Function*>(find(name));
    }

    /// Stores the address of the function `name` in `to`, or null if the library does not contain
    /// it.
    template <class Function>
    void find_optional(const char* name, Function*& to) {
        to = reinterpret_cast<Function*>(find_optional(name));
    }

    /// Returns an error if the library or a function is missing: "PostgreSQL support needs
    /// libpq.so.5: ...".
    Result<void> loaded() const;

private:
    void* find(const char* name);
    void* find_optional(const char* name);

    const char* file_;
    const char* purpose_;
    void* handle_;
    std::string error_;
};

}  // namespace bunraku::base
