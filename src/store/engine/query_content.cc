// SPDX-License-Identifier: Apache-2.0
#include "store/engine/query_content.h"

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "store/engine/query_columns.h"

namespace bunraku::store {

namespace {

constexpr std::size_t kAtOnce = 1000;  ///< number of rows whose content is read together

void append_member(std::string& out, const query::OutputColumn& column, const Statement& s, int i) {
    codec::append_json_string(out, column.name);
    out += ':';
    append_column(out, s, i, column.kind);
}

}  // namespace

void ContentCache::keep(std::int64_t id, std::shared_ptr<const ContentTexts> texts) {
    std::size_t size = 64;
    for (const std::string& text : *texts) size += text.size() + sizeof text;
    if (bytes_ + size > most_bytes_) {
        old_ = std::move(young_);
        young_.clear();
        bytes_ = 0;
    }
    if (young_.insert_or_assign(id, std::move(texts)).second) bytes_ += size;
    BUNRAKU_ASSERT(!young_.empty() && bytes_ > 0);
}

std::vector<std::shared_ptr<const ContentTexts>> ContentCache::find(
    std::span<const std::int64_t> ids) {
    std::vector<std::shared_ptr<const ContentTexts>> out;
    out.reserve(ids.size());
    std::lock_guard lock(mutex_);
    for (std::int64_t id : ids) {
        auto at = young_.find(id);
        if (at != young_.end()) {
            out.push_back(at->second);
            continue;
        }
        at = old_.find(id);
        out.push_back(at == old_.end() ? nullptr : at->second);
        if (out.back()) keep(id, out.back());
    }
    BUNRAKU_ASSERT(out.size() == ids.size());
    return out;
}

void ContentCache::put(std::int64_t id, std::shared_ptr<const ContentTexts> texts) {
    std::lock_guard lock(mutex_);
    keep(id, std::move(texts));
}

void ContentCache::clear() {
    std::lock_guard lock(mutex_);
    young_.clear();
    old_.clear();
    bytes_ = 0;
}

Result<void> ContentRows::ask(std::span<const std::int64_t> ids) {
    BUNRAKU_ASSERT(query_.of_content.size() == columns_.size());
    Statement s = BUNRAKU_TRY(db_.prepare(query_.sql));
    s.bind_array(ids);
    while (BUNRAKU_TRY(s.step())) {
        auto texts = std::make_shared<ContentTexts>();
        bool together = false;
        int column = 1;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (!query_.of_content[i]) {
                together = false;
                continue;
            }
            if (together) {
                texts->back() += ',';
            } else {
                texts->emplace_back();
            }
            append_member(texts->back(), columns_[i], s, column++);
            together = true;
        }
        for (std::string& text : *texts) text.shrink_to_fit();
        asked_[s.integer(0)] = texts;
        cache_.put(s.integer(0), std::move(texts));
    }
    return {};
}

Result<bool> ContentRows::begin(Statement& rows) {
    begun_ = BUNRAKU_TRY(rows.step());
    done_ = !begun_;
    return db_.changes() <= query::ContentQuery::kMostRows;
}

Result<void> ContentRows::take_some(Statement& rows) {
    BUNRAKU_ASSERT(next_ == rows_.size() && query_.of_content.size() == columns_.size());
    rows_.clear();
    texts_.clear();
    ends_.clear();
    asked_.clear();
    next_ = 0;
    std::vector<std::int64_t> ids;
    while (ids.size() < kAtOnce) {
        if (!begun_ && !BUNRAKU_TRY(rows.step())) {
            done_ = true;
            break;
        }
        begun_ = false;
        ids.push_back(rows.integer(0));
        int column = 1;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (query_.of_content[i]) continue;
            append_member(texts_, columns_[i], rows, column++);
            ends_.push_back(texts_.size());
        }
    }
    rows_ = cache_.find(ids);
    BUNRAKU_ASSERT(rows_.size() == ids.size() && (ids.empty() || ends_.size() % ids.size() == 0));
    std::vector<std::int64_t> missing;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!rows_[i]) missing.push_back(ids[i]);
    }
    if (missing.empty()) return {};
    BUNRAKU_TRY_VOID(ask(missing));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        auto at = rows_[i] ? asked_.end() : asked_.find(ids[i]);
        if (at != asked_.end()) rows_[i] = at->second;
    }
    return {};
}

Result<bool> ContentRows::next(Statement& rows, std::string& out) {
    for (;;) {
        if (next_ == rows_.size()) {
            if (done_) return false;
            BUNRAKU_TRY_VOID(take_some(rows));
            continue;
        }
        if (rows_[next_]) break;
        ++next_;
    }
    const ContentTexts& content = *rows_[next_];
    BUNRAKU_ASSERT(next_ < rows_.size() && ends_.size() % rows_.size() == 0);
    std::size_t own = next_ * (ends_.size() / rows_.size()), piece = 0;
    ++next_;
    bool together = false;
    out += '{';
    for (bool of_content : query_.of_content) {
        if (of_content) {
            // Adjacent columns share one text, which the first of them writes.
            if (!together) {
                if (out.back() != '{') out += ',';
                BUNRAKU_ASSERT(piece < content.size());
                out += content[piece++];
            }
            together = true;
            continue;
        }
        together = false;
        if (out.back() != '{') out += ',';
        BUNRAKU_ASSERT(own < ends_.size());
        std::size_t begin = own == 0 ? 0 : ends_[own - 1];
        out.append(texts_, begin, ends_[own++] - begin);
    }
    out += '}';
    return true;
}

}  // namespace bunraku::store
