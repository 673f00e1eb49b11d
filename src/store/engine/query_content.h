// Rows of which a part is content: the same wherever it is, never changed, known by an id. Making
// its text is most of the work of a question, so texts are remembered.
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

/// Members of a row's JSON object: one text for each run of columns that stand together.
using ContentTexts = std::vector<std::string>;

/// Texts by id, until `most_bytes` are used twice over. For many threads.
class ContentCache {
public:
    explicit ContentCache(std::size_t most_bytes = 8U << 20) : most_bytes_(most_bytes) {}
    /// In the order of `ids`; null where nothing is known.
    std::vector<std::shared_ptr<const ContentTexts>> find(std::span<const std::int64_t> ids);
    void put(std::int64_t id, std::shared_ptr<const ContentTexts> texts);
    void clear();

private:
    void keep(std::int64_t id, std::shared_ptr<const ContentTexts> texts);
    using Map = std::unordered_map<std::int64_t, std::shared_ptr<const ContentTexts>>;
    std::mutex mutex_;
    Map young_, old_;  ///< what was asked for lately, and before
    std::size_t most_bytes_, bytes_ = 0;
};

/// Puts rows together out of a statement that gives an id and their own columns, and of content.
class ContentRows {
public:
    ContentRows(const query::ContentQuery& query, const std::vector<query::OutputColumn>& columns,
                ContentCache& cache, Database& db)
        : query_(query), columns_(columns), cache_(cache), db_(db) {}
    /// Runs ContentQuery::rows; before anything else. False: there are too many of them.
    Result<bool> begin(Statement& rows);
    /// Appends the next row as JSON. False: that was all. Content that was removed a moment ago
    /// was nobody's any more: its row is left out.
    Result<bool> next(Statement& rows, std::string& out);

private:
    Result<void> take_some(Statement& rows);
    Result<void> ask(std::span<const std::int64_t> ids);

    const query::ContentQuery& query_;
    const std::vector<query::OutputColumn>& columns_;
    ContentCache& cache_;
    Database& db_;
    std::vector<std::shared_ptr<const ContentTexts>> rows_;  ///< their content; null: removed
    std::string texts_;              ///< own columns of all of rows_, one behind the other
    std::vector<std::size_t> ends_;  ///< of each of them
    std::size_t next_ = 0;
    bool begun_ = false, done_ = false;  ///< the statement stands on a row; is at its end
    std::unordered_map<std::int64_t, std::shared_ptr<const ContentTexts>> asked_;
};

}  // namespace bunraku::store
