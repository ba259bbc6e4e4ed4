// mesh_file: the text of a mesh file as tokens or raw bytes, every mistake reported with the file and the line.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fem {

class mesh_file {
  public:
    /// Reads the whole file. Throws mesh_error when there is none, or it is no regular file, or larger than memory.
    explicit mesh_file(std::string path);

    const std::string& path() const { return path_; }
    std::int64_t remaining() const { return static_cast<std::int64_t>(text_.size()) - at_; }

    /// Where the last token began, for fail_at.
    std::int64_t position() const { return token_; }
    /// Throws mesh_error with `message`, preceded by the file and the line of the last token, or of a position.
    [[noreturn]] void fail(const std::string& message) const { fail_at(token_, message); }
    [[noreturn]] void fail_at(std::int64_t position, const std::string& message) const;

    /// From now on `c` starts a comment, up to the end of the line; before, there are none.
    void comments_start_with(char c) { comment_ = c; }

    /// The rest of the current line, without the end of the line.
    std::string_view rest_of_line();
    /// The next token: words between blanks, comments left out. Fails at the end of the file, which
    /// "ends where `what` was expected".
    std::string_view word(std::string_view what);
    /// Reads one word, which must be `word`.
    void expect(std::string_view word);
    /// Reads the next word if it is `word`.
    bool take(std::string_view word);
    /// Whether nothing but blanks and comments follows.
    bool at_end();

    std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high);
    /// A finite number.
    double real(std::string_view what);
    /// A number of things of which each takes at least `bytes_each` bytes of what remains of the file, so that a
    /// claimed number never has memory allocated for it that the file could not fill.
    std::int64_t count(std::string_view what, std::int64_t bytes_each);
    /// The check of count() for a number that was read otherwise.
    void check_count(std::string_view what, std::int64_t n, std::int64_t bytes_each) const;

    /// A value stored as its bytes.
    template <class T>
    T raw(std::string_view what) {
        T value;
        token_ = at_;
        if (remaining() < static_cast<std::int64_t>(sizeof value)) fail_at_end(what);
        std::memcpy(&value, text_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    /// Moves behind the next occurrence of `text`; false, without moving, when there is none.
    bool skip_past(std::string_view text);

    /// From now on positions in messages are bytes, not lines: what follows is binary.
    void report_bytes() { bytes_ = true; }

  private:
    [[noreturn]] void fail_at_end(std::string_view what) const;
    void skip_blanks();

    std::string path_, text_;
    std::int64_t at_ = 0;    ///< where reading goes on
    std::int64_t token_ = 0; ///< where the last token began
    char comment_ = '\0';
    bool bytes_ = false;
};

/// The first number that stands twice among `numbers`; nothing if none does.
std::optional<std::int64_t> repeated(std::span<const std::int64_t> numbers);

/// `text` in quotes for a message: cut where long, with a dot for every byte that cannot be printed.
std::string quoted(std::string_view text);

} // namespace fem
