// main: the `ricci` command. Exit code 0: done; 1: the statement or its input is wrong; 2: the environment is.
#include "tools/bench_command.hpp"
#include "tools/commands.hpp"
#include "tools/empty_options.hpp"
#include "tools/math_option.hpp"

#include <ricci/lowering/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

namespace {

using namespace ricci::tools;

constexpr int wrong_input = 1;
constexpr int wrong_environment = 2;

const char* const device_help =
    "cpu, cuda or cuda:N; otherwise RICCI_DEVICE, else the first usable GPU, else the CPU";

constexpr int most_repetitions = 1'000'000;

/// A CLI11 validator: what is wrong with a number of repetitions or candidates; empty if nothing is.
std::string check_repetitions(const std::string& word) {
    int number = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, number);
    if (failure == std::errc() && stop == end && number >= 1 && number <= most_repetitions) return {};
    return fmt::format("'{}' is no number from 1 to {}", word, most_repetitions);
}

/// The subcommand `tune`, which writes into `tune`.
CLI::App* add_tune(CLI::App& app, tune_options& tune) {
    CLI::App* const command = app.add_subcommand("tune", "Measure kernels against each other, and keep the fastest");
    command->add_option("statements", tune.statements, "Statements in Einstein notation, separated by ';'");
    command->add_option(
        "operands", tune.operands,
        "NAME=TYPE[EXTENT,...] for each tensor that is read, the first index fastest, or NAME=FILE.npy "
        "for the type, extents and order of a file's; as for explain");
    command->add_option("--file", tune.file, "A list: a statement and its operands a line, '#' begins a comment");
    auto* const sizes = command->add_option(
        "--sizes", tune.sizes.sizes, "A sweep over C += A*B: 1..32, 1..128:3 (every third), 8,16,24x8x4 (m x n x k)");
    command->add_option("--types", tune.sizes.types, "Of a sweep: f64,f32; f16:f32 is half in, float out")
        ->capture_default_str()
        ->needs(sizes);
    command
        ->add_option("--transpose", tune.sizes.transpose, "Of a sweep: NN,NT,TN,TT; C is transposed and conjugated")
        ->capture_default_str()
        ->needs(sizes);
    command
        ->add_option("--form", tune.sizes.forms, "Of a sweep: batched,interleaved,atb,ab (tall-skinny A^T B and A B)")
        ->capture_default_str()
        ->needs(sizes);
    command->add_option("--assign", tune.sizes.assignments, "Of a sweep: =,+=,-=")
        ->capture_default_str()
        ->needs(sizes);
    command
        ->add_option("--bytes", tune.sizes.bytes,
                     "Of a sweep: all operands together, which gives the batch (default 1GB; on a CPU 1MB, which its "
                     "cache holds)")
        ->needs(sizes);
    auto* const dry_run = command->add_flag("--dry-run", tune.dry_run,
                                            "Print the candidates and the model's predictions; measure nothing");
    command
        ->add_option("--tolerance", tune.tolerance,
                     "Keep the fewest kernels that are within this of every size's best: 5%; what is at one size is "
                     "measured again at every size")
        ->excludes(dry_run);
    command
        ->add_option("--json", tune.json,
                     "Write all timings to a file, a JSON object a line; - is the standard output")
        ->excludes(dry_run);
    command->add_option("--export", tune.export_file,
                        "Write all that the database holds of this chip to a file; entries of a table that stands "
                        "there and were not measured again stay. - is the standard output");
    command->add_option("--device", tune.device, device_help);
    add_math_option(*command);
    command->add_option("--chip", tune.chip, "With --dry-run: a chip that need not be there; a100, h100 or h200");
    command->add_option("--most", tune.most, "Candidates measured for each kernel at the most")
        ->capture_default_str()
        ->check(check_repetitions);
    command->add_flag("--all", tune.all, "Measure every candidate, whatever the model expects of it");
    refuse_empty_options(*command);
    command->footer("Ctrl-C stops it; what was measured until then is kept, and the exit code is 130.\n"
                    "Examples:\n"
                    "  ricci tune \"C(i,j,e) += A(i,k,e)*B(k,j,e)\" \"A=f64[8,8,50000]\" \"B=f64[8,8,50000]\" "
                    "\"C=f64[8,8,50000]\"\n"
                    "  ricci tune --sizes 1..32 --types f64,f32 --transpose NN,NT,TN,TT --bytes 1GB --tolerance 5%\n"
                    "  ricci tune --file statements.txt --json timings.json\n"
                    "  ricci tune --sizes 8 --dry-run --chip h100\n"
                    "  ricci tune --export sm_90.json");
    return command;
}

/// What is wrong with the command line. CLI11 itself does not name a word that stands where a subcommand should.
std::string mistake(const CLI::App& app, const CLI::ParseError& found) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    if (command->get_require_subcommand_min() == 0) return found.what();
    std::string known;
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; }))
        known += fmt::format("{}{}", known.empty() ? "" : ", ", sub->get_name());
    const auto words = command->remaining();
    if (words.empty()) return fmt::format("a subcommand is missing; there are {}", known);
    return fmt::format("'{}' is no subcommand; there are {}", words.front(), known);
}

/// What was typed, the program by its name.
std::string command_line(int argc, char** argv) {
    std::string text = "ricci";
    for (int n = 1; n < argc; ++n) {
        const std::string word = argv[n];
        const bool plain = !word.empty() && word.find_first_of(" \t\"'*()[];&|<>$") == word.npos;
        text += plain ? fmt::format(" {}", word) : fmt::format(" \"{}\"", word);
    }
    return text;
}

/// `code`, unless what was printed did not arrive.
int finish(int code) {
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    fmt::print(stderr, "ricci: the standard output cannot be written: {}\n",
               errno ? std::strerror(errno) : "unknown failure");
    return code == 0 ? wrong_environment : code;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN); // a file that grows too large is an error with a message, and is removed

    CLI::App app("ricci: tensor contractions in Einstein notation, compiled at run time");
    app.require_subcommand(1);
    app.set_version_flag("--version", "ricci " RICCI_VERSION);
    app.footer("Exit codes: 0 done, 1 the statement or its input is wrong, 2 the environment is,\n"
               "130 stopped by Ctrl-C (tune, bench).\n"
               "Example: ricci run \"C(i,j) = A(i,k)*B(k,j)\" A=a.npy B=b.npy C=c.npy");

    run_options run;
    CLI::App* const run_app = app.add_subcommand("run", "Run statements on .npy files");
    run_app->add_option("statements", run.statements, "Statements in Einstein notation, separated by ';'")
        ->required();
    run_app->add_option(
        "operands", run.operands,
        "NAME=FILE.npy for each tensor. A file on a right side is read. A file on a left side is written "
        "in Fortran order; it is read first where it exists, and created where not. What a call writes is written "
        "too, wherever it stands: cholesky, lu and qr leave the factors in their matrix's file");
    run_app->add_option("--device", run.device, device_help);
    add_math_option(*run_app);
    run_app
        ->add_option("--time", run.time,
                     "Then time N more runs of each statement, or of the program where statements hand each other "
                     "what has no file, and print the median")
        ->check(check_repetitions);
    run_app->add_flag("--explain", run.explain, "Print every stage of each statement first");
    run_app->footer("Examples:\n"
                    "  ricci run \"C(i,j) = A(i,k)*B(k,j)\" A=a.npy B=b.npy C=c.npy\n"
                    "  ricci run \"T(i,j) = A(i,k)*B(k,j); C(i) = T(i,i)\" A=a.npy B=b.npy C=c.npy --time 10\n"
                    "  ricci run \"A(i,j,m(1,9),n(1,8)) -= A(i,k,m,0)*A(k,j,0,n)\" A=blocks.npy --device cpu\n"
                    "  ricci run \"X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e))\" A=a.npy B=b.npy X=x.npy");

    explain_options explain;
    CLI::App* const explain_app = app.add_subcommand("explain", "Print how statements are lowered; needs no data");
    explain_app->add_option("statements", explain.statements, "Statements in Einstein notation, separated by ';'")
        ->required();
    explain_app->add_option(
        "operands", explain.operands,
        "NAME=TYPE[EXTENT,...] for each tensor that is read; TYPE is f16, bf16, f32, f64, c64 or c128, of an index "
        "table i32 or i64. "
        "NAME=FILE.npy takes type and extents from the file; it need not exist where the tensor is made");
    explain_app->add_option("--device", explain.device, device_help);
    add_math_option(*explain_app);
    explain_app->footer("Example:\n"
                        "  ricci explain \"A(i,j,m(1,9),n(1,8)) -= A(i,k,m,0)*A(k,j,0,n)\" \"A=f64[64,64,9,8]\"");

    const auto bench = add_bench_command(app, command_line(argc, argv));
    tune_options tune;
    CLI::App* const tune_app = add_tune(app, tune);

    CLI::App* const cache_app = app.add_subcommand("cache", "The compiled kernels kept on disk");
    cache_app->require_subcommand(1);
    CLI::App* const path_app = cache_app->add_subcommand("path", "Print the directory");
    CLI::App* const list_app = cache_app->add_subcommand("list", "List the kernels, the most recently used first");
    bool verbose = false;
    list_app->add_flag("--verbose", verbose, "Print each kernel's whole hash, and its compiler's options");
    CLI::App* const clear_app = cache_app->add_subcommand("clear", "Remove all kernels");
    path_app->footer("Example:\n  ricci cache path");
    list_app->footer("Example:\n  ricci cache list");
    clear_app->footer("Example:\n  ricci cache clear");
    cache_app->footer(
        "Examples:\n  ricci cache path\n  ricci cache list\n  RICCI_CACHE_DIR=/tmp/kernels ricci cache clear");

    CLI::App* const doctor_app = app.add_subcommand("doctor", "Say what was found of compilers, GPUs and caches");
    doctor_app->footer("Example:\n  ricci doctor");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return finish(app.exit(e)); // help, or the version
        fmt::print(stderr, "ricci: {}\nRun with --help for more information.\n", mistake(app, e));
        return wrong_input;
    }
    try {
        if (*run_app) return finish(run_command(run));
        if (*explain_app) return finish(explain_command(explain));
        if (app.got_subcommand("bench")) return finish(bench());
        if (*tune_app) return finish(tune_command(tune));
        if (*path_app) return finish(cache_path_command());
        if (*list_app) return finish(cache_list_command(verbose));
        if (*clear_app) return finish(cache_clear_command());
        return finish(doctor_command());
    } catch (const ricci::error& e) {
        fmt::print(stderr, "ricci: {}\n", e.what());
        return e.blame() == ricci::blame::statement ? wrong_input : wrong_environment;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "ricci: not enough memory\n");
        return wrong_environment;
    } catch (const std::exception& e) {
        fmt::print(stderr, "ricci: {}\n", e.what());
        return wrong_environment;
    }
}
