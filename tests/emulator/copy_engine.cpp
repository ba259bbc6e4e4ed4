// copy_engine: an emulated block's asynchronous copies and the barriers they complete on.
#include "tests/emulator/copy_engine.hpp"

#include "lowering/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace ricci::tests {
namespace {

[[noreturn]] void fail(std::string_view what) { throw error(fmt::format("emulator: {}", what), blame::environment); }

} // namespace

void copy_engine::reset(const void* shared, std::size_t bytes) {
    barriers_.clear(), loads_.clear(), stores_.clear(), small_copies_.clear();
    shared_ = static_cast<const std::byte*>(shared), shared_bytes_ = bytes;
}

copy_engine::phase& copy_engine::at(const void* barrier) {
    const auto found = barriers_.find(barrier);
    if (found == barriers_.end()) fail("a barrier is used before it was started");
    return found->second;
}

void copy_engine::check(const void* global, const void* in_shared, int bytes) const {
    const auto* start = static_cast<const std::byte*>(in_shared);
    if (reinterpret_cast<std::uintptr_t>(global) % 16 != 0 || reinterpret_cast<std::uintptr_t>(in_shared) % 16 != 0 ||
        bytes % 16 != 0)
        fail("a bulk copy is not aligned to 16 bytes");
    if (bytes <= 0) fail("a bulk copy of no bytes");
    if (start < shared_ || start + bytes > shared_ + shared_bytes_) fail("a bulk copy leaves shared memory");
}

void copy_engine::start_barrier(const void* barrier, int arrivals) {
    if (reinterpret_cast<std::uintptr_t>(barrier) % 8 != 0) fail("a barrier is not aligned to 8 bytes");
    barriers_[barrier] = {arrivals, arrivals, 0, 0};
}

void copy_engine::end_barrier(const void* barrier) {
    const auto& p = at(barrier);
    if (p.missing != p.arrivals || p.bytes != 0) fail("a barrier that copies are to complete on ends");
    barriers_.erase(barrier);
}

void copy_engine::end_if_complete(phase& p) {
    if (p.missing > 0 || p.bytes > 0) return;
    p.missing = p.arrivals;
    p.parity ^= 1;
}

void copy_engine::arrive(const void* barrier, int bytes) {
    auto& p = at(barrier);
    if (p.missing == 0) fail("more arrivals than a barrier was started with");
    p.bytes += bytes;
    --p.missing;
    end_if_complete(p);
}

void copy_engine::load(void* in_shared, const void* global, int bytes, const void* barrier) {
    check(global, in_shared, bytes);
    at(barrier);
    loads_.push_back({{{in_shared, global, bytes, bytes}}, bytes, barrier, 0});
}

void copy_engine::store(std::size_t thread, void* global, const void* in_shared, int bytes, std::mt19937_64& random) {
    check(global, in_shared, bytes);
    start_storing({{{global, in_shared, bytes, bytes}}, bytes, nullptr, thread}, random);
}

void copy_engine::start_storing(copy what, std::mt19937_64& random) {
    if (random() % 2 == 0) make(what.pieces), what.pieces.clear(); // it is to be waited for all the same
    stores_.push_back(std::move(what));
}

namespace {

constexpr int piece = 16; ///< bytes

/// What the emulator's map_boxes writes.
struct box_words {
    explicit box_words(const unsigned long long* map)
        : matrix(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(map[0]))), element(signed_word(map[1])),
          exchanged(map[2] != 0), extent{signed_word(map[3]), signed_word(map[4]), signed_word(map[5])},
          box{signed_word(map[6]), signed_word(map[7]), signed_word(map[8])},
          between{signed_word(map[9]), signed_word(map[10])},
          begin(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(map[11]))),
          bytes_from_anywhere(signed_word(map[12])) {}
    static std::int64_t signed_word(unsigned long long word) { return static_cast<std::int64_t>(word); }

    std::byte* matrix;
    std::int64_t element;
    bool exchanged;
    std::array<std::int64_t, 3> extent, box;
    std::array<std::int64_t, 2> between;
    std::byte* begin; ///< of the matrix, whose bytes count where it may begin anywhere
    std::int64_t bytes_from_anywhere;
    std::int64_t line_bytes() const { return box[0] * element; }
    std::int64_t bytes() const { return line_bytes() * box[1] * box[2]; }
};

} // namespace

template <class F>
void copy_engine::each_piece(const unsigned long long* map, const place& first, const void* in_shared,
                             const F& f) const {
    const box_words w(map);
    const auto* const start = static_cast<const std::byte*>(in_shared);
    if (w.matrix == nullptr) fail("a box of no matrix");
    const auto alignment = w.exchanged ? 1024u : 128u;
    if (reinterpret_cast<std::uintptr_t>(in_shared) % alignment != 0)
        fail(fmt::format("a box is not aligned to {} bytes", alignment));
    if (start < shared_ || start + w.bytes() > shared_ + shared_bytes_) fail("a box leaves shared memory");
    if (*std::min_element(first.begin(), first.end()) < 0) fail("a box begins before its matrix");
    if (*std::max_element(w.box.begin(), w.box.end()) > 256 || w.line_bytes() % piece != 0)
        fail("a box that the copy engine does not take");
    const auto pieces = w.line_bytes() / piece;
    for (std::int64_t l = 0; l < w.box[1] * w.box[2]; ++l)
        for (std::int64_t p = 0; p < pieces; ++p) {
            const auto at = first[0] * w.element + p * piece, line = first[1] + l % w.box[1],
                       plane = first[2] + l / w.box[1];
            // the last one of a line whole, as an H200 stores it
            const bool exists = at < w.extent[0] * w.element && line < w.extent[1] && plane < w.extent[2];
            auto* const global = exists ? w.matrix + plane * w.between[1] + line * w.between[0] + at : w.matrix;
            const auto* const shared = start + (l * pieces + (w.exchanged ? p ^ l % 8 : p)) * piece;
            // What lies around a matrix that begins anywhere may be anything, but is not all there.
            const auto before = w.bytes_from_anywhere > 0 && exists ? std::max<std::int64_t>(0, w.begin - global) : 0;
            const auto left = w.bytes_from_anywhere > 0 ? w.begin + w.bytes_from_anywhere - global : piece;
            if (exists && left <= 0) fail("a box asks for what is behind its matrix");
            const auto valid = !exists ? 0 : std::min<std::int64_t>(left, piece) - before;
            f(global + before, shared + before, static_cast<int>(piece - before), static_cast<int>(valid));
        }
}

void copy_engine::load_box(void* in_shared, const unsigned long long* map, const place& first, const void* barrier) {
    at(barrier);
    copy box{{}, static_cast<int>(box_words(map).bytes()), barrier, 0};
    each_piece(map, first, in_shared, [&](const std::byte* global, const std::byte* shared, int bytes, int valid) {
        box.pieces.push_back({const_cast<std::byte*>(shared), global, bytes, valid});
    });
    loads_.push_back(std::move(box));
}

void copy_engine::store_box(std::size_t thread, const unsigned long long* map, const place& first,
                            const void* in_shared, std::mt19937_64& random) {
    copy box{{}, 0, nullptr, thread};
    each_piece(map, first, in_shared, [&](std::byte* global, const std::byte* shared, int, int valid) {
        if (valid > 0) box.pieces.push_back({global, shared, valid, valid});
    });
    start_storing(std::move(box), random);
}

void copy_engine::make(const std::vector<small_copy>& pieces) {
    for (const auto& c : pieces) {
        std::memset(c.to, 0, static_cast<std::size_t>(c.bytes));
        std::memcpy(c.to, c.from, static_cast<std::size_t>(c.valid));
    }
}

void copy_engine::finish_stores(std::size_t thread, int pending) {
    auto left = std::count_if(stores_.begin(), stores_.end(), [&](const copy& s) { return s.thread == thread; });
    std::erase_if(stores_, [&](const copy& s) { // from the oldest on
        const bool finishes = s.thread == thread && left-- > pending;
        if (finishes) make(s.pieces);
        return finishes;
    });
}

void copy_engine::copy_async(std::size_t thread, void* in_shared, const void* global, int bytes, int valid) {
    const auto* start = static_cast<const std::byte*>(in_shared);
    const auto misaligned = [&](const void* p) {
        return reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) != 0;
    };
    if (bytes != 4 && bytes != 8 && bytes != 16) fail("an asynchronous copy is not of 4, 8 or 16 bytes");
    if (misaligned(in_shared) || misaligned(global)) fail("an asynchronous copy is not aligned to its size");
    if (valid < 0 || valid > bytes) fail("an asynchronous copy reads more bytes than it writes");
    if (start < shared_ || start + bytes > shared_ + shared_bytes_) fail("an asynchronous copy leaves shared memory");
    small_copies_[thread].open.push_back({in_shared, global, bytes, valid});
}

void copy_engine::commit(std::size_t thread) {
    auto& mine = small_copies_[thread];
    mine.groups.push_back(std::exchange(mine.open, {}));
}

void copy_engine::wait(std::size_t thread, int pending) {
    auto& mine = small_copies_[thread];
    while (mine.groups.size() > static_cast<std::size_t>(pending)) {
        make(mine.groups.front());
        mine.groups.pop_front();
    }
}

bool copy_engine::has_ended(const void* barrier, int parity, std::mt19937_64& random) {
    const auto& p = at(barrier);
    if (p.parity != parity) return true;
    if (loads_.empty()) return false;
    std::swap(loads_[random() % loads_.size()], loads_.back());
    const copy next = std::move(loads_.back());
    loads_.pop_back();
    make(next.pieces);
    auto& done = at(next.barrier);
    done.bytes -= next.bytes;
    end_if_complete(done);
    return p.parity != parity;
}

void copy_engine::check_finished() const {
    if (!stores_.empty()) fail("a block ends before its bulk stores have read shared memory");
    if (!loads_.empty()) fail("a block ends before its bulk loads have arrived");
    for (const auto& [thread, copies] : small_copies_) {
        if (!copies.open.empty()) fail("a block ends with asynchronous copies in no group");
        for (const auto& group : copies.groups)
            if (!group.empty()) fail("a block ends before its asynchronous copies have arrived");
    }
}

} // namespace ricci::tests
