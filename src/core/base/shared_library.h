// Libraries of the system that only some commands need: opened when they are first needed, so that
// the others neither wait for them nor carry them (docs/design/0070).
#pragma once

#include <string>

#include "core/base/result.h"

namespace bunraku::base {

/// One shared library, open until the process ends.
class SharedLibrary {
public:
    /// Opens `file` ("libpq.so.5"). `purpose` begins the message where it is missing: "PostgreSQL
    /// support".
    SharedLibrary(const char* file, const char* purpose);

    /// Stores the address of the function `name` in `to`. Does nothing once something failed.
    template <class Function>
    void find(const char* name, Function*& to) {
        to = reinterpret_cast<Function*>(find(name));
    }

    /// "PostgreSQL support needs libpq.so.5: ...", where the library or a function is missing.
    Result<void> loaded() const;

private:
    void* find(const char* name);

    const char* file_;
    const char* purpose_;
    void* handle_;
    std::string error_;
};

}  // namespace bunraku::base
