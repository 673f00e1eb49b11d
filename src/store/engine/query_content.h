// SPDX-License-Identifier: Apache-2.0
// Rows that include shared content, which never changes and is identified by an id. Formatting this
// content is most of the work of a query, so the texts are cached.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/db/database.h"
#include "store/query/compile.h"

namespace bunraku::store {

/// Members of a row's JSON object: one text for each run of adjacent columns.
using ContentTexts = std::vector<std::string>;

/// A thread-safe cache of texts by id. It holds two generations of up to `most_bytes` each.
class ContentCache {
public:
    explicit ContentCache(std::size_t most_bytes = 8U << 20) : most_bytes_(most_bytes) {}
    /// Returns the texts in the order of `ids`, with null for ids that are not cached.
    std::vector<std::shared_ptr<const ContentTexts>> find(std::span<const std::int64_t> ids);
    void put(std::int64_t id, std::shared_ptr<const ContentTexts> texts);
    void clear();

private:
    void keep(std::int64_t id, std::shared_ptr<const ContentTexts> texts);
    using Map = std::unordered_map<std::int64_t, std::shared_ptr<const ContentTexts>>;
    std::mutex mutex_;
    Map young_, old_;  ///< recently used entries, and the previous generation
    std::size_t most_bytes_, bytes_ = 0;
};

/// Combines rows from a statement, which returns an id and other columns, and from content.
class ContentRows {
public:
    ContentRows(const query::ContentQuery& query, const std::vector<query::OutputColumn>& columns,
                ContentCache& cache, Database& db)
        : query_(query), columns_(columns), cache_(cache), db_(db) {}
    /// Runs ContentQuery::rows; must be called first. Returns false if there are too many rows.
    Result<bool> begin(Statement& rows);
    /// Appends the next row as JSON. Returns false at the end. Skips rows whose content was removed
    /// meanwhile, because such content was unused.
    Result<bool> next(Statement& rows, std::string& out);

private:
    Result<void> take_some(Statement& rows);
    Result<void> ask(std::span<const std::int64_t> ids);

    const query::ContentQuery& query_;
    const std::vector<query::OutputColumn>& columns_;
    ContentCache& cache_;
    Database& db_;
    /// content of the rows; null if it was removed
    std::vector<std::shared_ptr<const ContentTexts>> rows_;
    std::string texts_;              ///< other columns of all of rows_, concatenated
    std::vector<std::size_t> ends_;  ///< end of each row's text in texts_
    std::size_t next_ = 0;
    bool begun_ = false, done_ = false;  ///< the statement is on a row, or at its end
    std::unordered_map<std::int64_t, std::shared_ptr<const ContentTexts>> asked_;
};

}  // namespace bunraku::store
