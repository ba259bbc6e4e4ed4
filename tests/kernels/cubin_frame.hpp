// cubin_frame: how much local memory a kernel's machine code asks for.
#pragma once

#include <cstdint>
#include <string_view>

namespace ricci::tests {

/// Bytes of a thread's stack frame, where registers are spilled, the largest of a cubin's functions. The cubin is a
/// 64-bit ELF file whose section .nv.info lists attributes, as `cuobjdump -elf` shows them: EIATTR_FRAME_SIZE. Throws
/// ricci::error where there is none.
std::uint32_t frame_bytes(std::string_view cubin);

} // namespace ricci::tests
