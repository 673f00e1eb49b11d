// SPDX-License-Identifier: Apache-2.0
// A vector whose copies share unmodified chunks. A snapshot with one more release costs one chunk
// instead of a whole copy.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/assert.h"

namespace bunraku::forge {

template <class T, std::size_t N>
class SharedChunks {
public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t i) const {
        BUNRAKU_ASSERT(i < size_);
        return (*chunks_[i / N])[i % N];
    }
    /// Returns an element for writing. Other copies do not change.
    T& edit(std::size_t i) {
        BUNRAKU_ASSERT(i < size_);
        return own(i / N)[i % N];
    }
    void push_back(T item) {
        if (size_ % N == 0) {
            chunks_.push_back(std::make_shared<std::vector<T>>());
            chunks_.back()->reserve(N);
        }
        own(size_ / N).push_back(std::move(item));
        ++size_;
        BUNRAKU_ASSERT(chunks_.size() == (size_ + N - 1) / N);
        BUNRAKU_ASSERT(chunks_.back()->size() == (size_ - 1) % N + 1);
    }

    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        Iterator() = default;
        Iterator(const SharedChunks* of, std::size_t at) : of_(of), at_(at) {}
        const T& operator*() const { return (*of_)[at_]; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        Iterator operator++(int) { return Iterator(of_, at_++); }
        bool operator==(const Iterator&) const = default;

    private:
        const SharedChunks* of_ = nullptr;
        std::size_t at_ = 0;
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, size_}; }

private:
    std::vector<T>& own(std::size_t chunk) {
        BUNRAKU_ASSERT(chunk < chunks_.size());
        auto& c = chunks_[chunk];
        // If another thread is just destroying its copy, the count is too high. That costs only one
        // needless copy of a chunk.
        if (c.use_count() > 1) {
            auto copy = std::make_shared<std::vector<T>>();
            copy->reserve(N);
            copy->assign(c->begin(), c->end());
            c = std::move(copy);
        }
        return *c;
    }
    std::vector<std::shared_ptr<std::vector<T>>> chunks_;
    std::size_t size_ = 0;
};

}  // namespace bunraku::forge
