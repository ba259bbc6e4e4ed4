// text_mistake: what of a wrong text can be shown.
#pragma once

#include <cstddef>
#include <string_view>

namespace ricci::dsl {

/// Bytes of the character that `text` begins with: 1 to 4, as UTF-8; 0 where it is none or a control character.
std::size_t character_bytes(std::string_view text);

} // namespace ricci::dsl
