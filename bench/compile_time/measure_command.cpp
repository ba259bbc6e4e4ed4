// measure_command: runs a command, prints its processor time and its largest process, and fails above a budget.
// Usage: measure_command <seconds> <megabytes> <command> <arguments>...
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
    if (count < 4) {
        std::fprintf(stderr, "usage: %s <seconds> <megabytes> <command> <arguments>...\n", arguments[0]);
        return 2;
    }
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[3], arguments + 3);
        std::perror(arguments[3]);
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        std::perror("measure_command");
        return 2;
    }
    const auto seconds_of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    // Processor time: what else the machine does is not the compiler's.
    const double seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    const double megabytes = 1024e-6 * static_cast<double>(usage.ru_maxrss);
    std::printf("%.1f s of processor time (budget %s s), %.0f MB (budget %s MB)\n", seconds, arguments[1], megabytes,
                arguments[2]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 2;
    return seconds <= std::atof(arguments[1]) && megabytes <= std::atof(arguments[2]) ? 0 : 1;
}
