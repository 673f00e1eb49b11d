// SPDX-License-Identifier: Apache-2.0
// Runs tests on SQLite and, if available, on PostgreSQL. That is the server in
// BUNRAKU_TEST_POSTGRESQL, or a private server. The private server uses the installed programs and
// an unprivileged user, and ends with the test program.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>

#include "store/db/database.h"
#include "store/db/writer.h"
#include "support.h"

namespace bunraku::store {

/// Returns the URL of an empty database, or nullopt if PostgreSQL is not available.
std::optional<std::string> fresh_postgresql();

/// Stores a "replace catalog" command of version 9 in a separate transaction.
void put_catalog(Writer& writer, const std::string& node, const std::string& body,
                 std::int64_t received);

/// Stores a "replace facts" command with `values`, a JSON object, in environment production.
void put_facts(Writer& writer, const std::string& node, const std::string& values,
               std::int64_t received);

class OnBackend : public testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
        if (GetParam() == Backend::Sqlite) {
            where_ = folder_ / "store.sqlite3";
            return;
        }
        auto url = fresh_postgresql();
        if (!url) GTEST_SKIP() << "no PostgreSQL (BUNRAKU_TEST_POSTGRESQL, or its programs)";
        where_ = *url;
    }
    TempFolder folder_;
    std::string where_;
};

/// A test with a writer of an empty store.
class OnWriter : public OnBackend {
protected:
    void SetUp() override {
        OnBackend::SetUp();
        if (IsSkipped()) return;
        auto opened = Writer::open(where_, {});
        ASSERT_TRUE(opened) << opened.error().message;
        writer_ = std::move(*opened);
    }
    std::unique_ptr<Writer> writer_;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
    return info.param == Backend::Sqlite ? "Sqlite" : "Postgresql";
}

#define BUNRAKU_ON_BACKENDS(suite)            \
    INSTANTIATE_TEST_SUITE_P(Backends, suite, \
                             testing::Values(Backend::Sqlite, Backend::Postgresql), backend_name)

}  // namespace bunraku::store
