// A vector whose copies share what neither has changed: a snapshot with one release more costs one
// chunk, not all of it.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace bunraku::forge {

template <class T, std::size_t N>
class SharedChunks {
public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t i) const { return (*chunks_[i / N])[i % N]; }
    /// Of this copy alone.
    T& edit(std::size_t i) { return own(i / N)[i % N]; }
    void push_back(T item) {
        if (size_ % N == 0) {
            chunks_.push_back(std::make_shared<std::vector<T>>());
            chunks_.back()->reserve(N);
        }
        own(size_ / N).push_back(std::move(item));
        ++size_;
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
        auto& c = chunks_[chunk];
        // Counted too high where another copy is just going: that costs a chunk, no more.
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
