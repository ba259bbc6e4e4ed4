// driver: runs kernels of the machine that it is compiled for, as the test that started it asks. Nothing but the C
// library: it is compiled for other machines, and runs under an emulator.
//
// Memory is shared: file 3, at the address that is the first argument, of as many bytes as the second says.
// Of a launch standard input has 4 words: bytes of "shared object\0entry\0", bytes of the kernel's arguments, blocks,
// 0; then those bytes. Standard output has a word for it once the kernel has ended, 0; or what went wrong, as text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using kernel = void (*)(const void* words, long long first, long long last);

bool read_all(void* to, std::size_t bytes) {
    for (char* p = static_cast<char*>(to); bytes > 0;) {
        const ssize_t got = read(0, p, bytes);
        if (got <= 0) return false;
        p += got, bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

[[noreturn]] void fail(const char* what) {
    std::printf("%s", what);
    std::fflush(stdout);
    std::exit(2);
}

} // namespace

int main(int count, char** arguments) {
    if (count != 3) fail("the driver takes an address and a number of bytes");
    const auto address = reinterpret_cast<void*>(std::strtoull(arguments[1], nullptr, 10));
    const std::size_t bytes = std::strtoull(arguments[2], nullptr, 10);
    if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, 3, 0) != address)
        fail("the memory of the test cannot be mapped");
    for (std::uint64_t head[4]; read_all(head, sizeof head);) {
        std::vector<char> names(head[0]);
        std::vector<std::uint64_t> words(head[1] / sizeof(std::uint64_t));
        if (!read_all(names.data(), names.size()) || !read_all(words.data(), head[1])) return 1;
        void* library = dlopen(names.data(), RTLD_NOW | RTLD_LOCAL);
        if (!library) fail(dlerror());
        const auto run = reinterpret_cast<kernel>(dlsym(library, names.data() + std::strlen(names.data()) + 1));
        if (!run) fail("no such entry");
        const auto blocks = static_cast<long long>(head[2]), middle = blocks / 3; // as two threads would run them
        if (middle > 0) run(words.data(), 0, middle);
        run(words.data(), middle, blocks);
        const std::uint64_t done = 0;
        if (write(1, &done, sizeof done) != sizeof done) return 1;
    }
    return 0;
}
