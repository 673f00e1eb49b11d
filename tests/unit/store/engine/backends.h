// Tests that run on SQLite and, where one can be had, on PostgreSQL: the server that
// BUNRAKU_TEST_POSTGRESQL names, or a private one, started from the installed programs as an
// unprivileged user for the time of the test program.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>

#include "store/db/database.h"
#include "store/db/writer.h"
#include "support.h"

namespace bunraku::store {

/// The URL of an empty database; nullopt: there is no PostgreSQL here.
std::optional<std::string> fresh_postgresql();

/// Stores a "replace catalog" of version 9, in a transaction of its own.
void put_catalog(Writer& writer, const std::string& node, const std::string& body,
                 std::int64_t received);

/// Stores a "replace facts" of `values`, a JSON object, in environment production.
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

/// With a writer of an empty store.
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
