// bench_command: the command line of `ricci bench`.
#include "tools/bench_command.hpp"

#include "bench/batched_bench.hpp"
#include "bench/conv/conv_bench.hpp"
#include "bench/factor/factor_bench.hpp"
#include "bench/fem/fem_bench.hpp"
#include "bench/tall_skinny_bench.hpp"
#include "bench/text_bench.hpp"
#include "tools/empty_options.hpp"
#include "tools/math_option.hpp"
#include "tools/shapes.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace ricci::tools {

namespace {

struct all_options {
    bench::session_options session;
    bench::batched_options batched;
    bench::tall_skinny_options tall_skinny;
    bench::fem::options fem;
    bench::conv::options conv;
    bench::factor::options factor;
    std::string statements;
    std::vector<std::string> operands; ///< NAME=TYPE[EXTENT,...] or NAME=FILE.npy
    std::int64_t offset = 0;
    bool no_check = false;
};

constexpr const char* peers_of_products =
    "What to measure against: cublas, cutensor (on a GPU), blas, libxsmm, eigen (fixed sizes), ijk, ikj (loops "
    "over constant sizes; all on a CPU), plain (a plain loop), triad (over as many bytes), or none; else all "
    "that this device has but the triad, and plain loops where sums are short";
constexpr const char* peers_of_operators =
    "What to measure against: unfused (ricci, each contraction a statement with its result in memory), cublas (on a "
    "GPU), blas (the same, contractions by that library), loops (sum factorisation by hand over constant "
    "sizes; all on a CPU), or none; else all that this device has";

constexpr const char* peers_of_layers =
    "What to measure against: direct (ricci's direct statement), im2col (windows as a matrix, by the BLAS that CMake "
    "found; on a CPU), cudnn (the best of its algorithms; on a GPU), "
    "cudnn-gemm (the better of its implicit GEMMs), or none; else all that this device has";

constexpr const char* peers_of_factorizations =
    "What to measure against: cusolver (the batched functions of cuSOLVER for Cholesky, of cuBLAS for all others; on "
    "a GPU), lapack (OpenBLAS's, or what RICCI_LAPACK names, a call for each matrix; on a CPU), or none; else the "
    "one "
    "that this device has";

/// What every subcommand takes.
void add_common(CLI::App& app, all_options& o, const char* peers_help) {
    bench::session_options& s = o.session;
    app.add_option("--peers", s.peers, peers_help);
    app.add_option("--repeat", s.repeat, "Rounds of each point, of which the median counts (default 15)")
        ->check(CLI::Range(1, 100000));
    app.add_flag("--no-check", o.no_check,
                 "Do not compare the first result of ricci and of every peer with exact sums");
    app.add_flag("--check", s.check, "Compare them, which is the default");
    app.add_flag("--warm-cache", s.warm_cache, "Use the same operands each time, however small they are");
    app.add_flag("--in-cache", s.in_cache,
                 "Keep the operands in a CPU's L2, half of which they fill (for each thread), and compare with the "
                 "peak of its multiply-adds");
    app.add_flag("--energy", s.energy,
                 "Joules of each operation too, by NVML, of factor on a CPU by RAPL; at least half a second each");
    app.add_flag("--processor-time", s.processor_time,
                 "On a CPU with RICCI_NUM_THREADS=1: the processor's time, of the fastest round, for machines that "
                 "others use too");
    app.add_flag("--counters", s.counters,
                 "Instructions, cycles, loads and stores of each product too, where a CPU counts them");
    app.add_option("--json", s.json, "Write everything to this file; - is the standard output");
    app.add_option("--csv", s.csv, "Write the rows to this file; - is the standard output");
    app.add_option("--device", s.device,
                   "cpu, cuda or cuda:N; otherwise RICCI_DEVICE, else the first usable GPU, else the CPU");
    add_math_option(app);
}

constexpr const char* type_help =
    "f64, f32, c128, c64, f16, bf16; f16:f32 has f16 operands and f32 results (default f64)";
constexpr const char* offset_help = "Elements by which every operand is off an aligned address";
const CLI::Range few(0, 1 << 20);

void add_batched(CLI::App& app, all_options& o) {
    bench::batched_options& b = o.batched;
    app.add_option("--sizes", b.sizes,
                   "n = m = k: 1..32, 1..128:3 (every third), 8,16,24x8x4 (m x n x k; default 1..32)");
    app.add_option("--shape", b.shapes, "MxNxK, several with commas: C is M x N, the sum runs over K");
    app.add_option("--types", b.types, type_help);
    app.add_option("--transpose", b.transpositions, "NN, NT, TN, TT; C is transposed and conjugated (default NN)");
    app.add_option("--beta", b.betas, "1: C += A*B, 0: C = A*B (default 1)");
    app.add_option(
        "--layout", b.layouts,
        "contiguous, interleaved (the batch's index is the fastest), shared (all use one B), shared-a, gathered (A's "
        "and B's matrices in a random order, by an index table), pointers (the same by arrays of pointers, C's too)");
    app.add_option("--ld", b.padding, "Elements of padding behind each column, as +1")->check(few);
    app.add_option("--offset", b.offset, offset_help)->check(few);
    app.add_option("--batch", b.batch,
                   "How many products, as a list like --sizes; otherwise as many as take --bytes");
    app.add_option("--bytes", b.bytes,
                   "Memory traffic of a point, as 2GB (the default; on a CPU 200MB) or 4MB; with --sample the most");
    auto* const sample =
        app.add_option(
               "--sample", b.sample,
               "Draw so many points, evenly over sizes (default 1..128), types, transpositions, betas, layouts and "
               "batches of 1 to 10^5")
            ->check(CLI::Range(1, 100000));
    app.add_option("--seed", b.seed, "What is drawn (default 1)")->needs(sample);
    app.add_flag("--rectangular", b.rectangular, "Draw m, n and k apart")->needs(sample);
    app.add_flag("--full", b.full, "Draw no batches: every point takes all of --bytes")->needs(sample);
    app.footer("Examples:\n"
               "  ricci bench batched --sizes 1..32 --types f64,f32 --json batched.json\n"
               "  ricci bench batched --shape 16x8x24,5x7x9 --transpose NN,TT --beta 0,1 --bytes 256MB\n"
               "  ricci bench batched --sizes 8 --batch 1,10,100,1000 --peers cublas --csv -\n"
               "  ricci bench batched --sample 600 --seed 1 --types f64,f32,f16 --transpose NN,NT,TN,TT --bytes 8GB");
}

void add_tall_skinny(CLI::App& app, all_options& o) {
    bench::tall_skinny_options& t = o.tall_skinny;
    app.add_option("--kind", t.kinds,
                   "atb: C(i,j) = A(k,i)*B(k,j) with long k; ab: C(i,j) = A(i,k)*B(k,j) with long i (default both)");
    app.add_option("--height", t.heights, "The long side, a list: 2^22 (the default), 2^10..2^21:*2");
    app.add_option("--widths", t.widths, "The short sides: 1..64 (the default), 8,16, or pairs: 8x3");
    app.add_option("--types", t.types, type_help);
    app.add_option("--order", t.orders, "column, row: how the tall matrices are stored (default column)");
    app.add_option("--beta", t.betas, "0: C = A*B, 1: C += A*B (default 0)");
    app.add_option("--ld", t.padding, "Elements of padding behind each column (or row), as +1")->check(few);
    app.add_option("--offset", t.offset, offset_help)->check(few);
    app.footer("Examples:\n"
               "  ricci bench tall-skinny --height 2^23 --widths 1..64 --types f64,f16:f32 --json tall.json\n"
               "  ricci bench tall-skinny --kind atb --height 2^10..2^21:*2 --widths 8,8x3,31 --order column,row");
}

void add_fem(CLI::App& app, all_options& o) {
    bench::fem::options& f = o.fem;
    app.add_option("--bp", f.numbers,
                   "Problems: 1, 2 mass with p+2 Gauss points along each direction; 3, 4 diffusion at these; 5, 6 "
                   "diffusion at the nodes; of one component and of three (default 1..6)");
    app.add_option("--orders", f.orders, "Orders p of the polynomials: 1..8 (the default), 2,4,6");
    app.add_option("--form", f.forms,
                   "E: element vectors; L: global ones, with gather and scatter by an index table (default both)");
    app.add_option(
        "--scatter", f.scatters,
        "How sums into global vectors are added: ordered, the same bits each time; atomic (default ordered)");
    app.add_option("--types", f.types, "f64, f32 (default f64)");
    app.add_option("--bytes", f.bytes, "Memory traffic of a point, as 2GB (the default; on a CPU 200MB) or 4MB");
    app.footer("Examples:\n"
               "  ricci bench fem --json fem.json\n"
               "  ricci bench fem --bp 1,3 --orders 2..6 --form L --scatter ordered,atomic --peers unfused\n"
               "  RICCI_NUM_THREADS=1 ricci bench fem --device cpu --bp 1 --form E --csv -");
}

void add_conv(CLI::App& app, all_options& o) {
    bench::conv::options& c = o.conv;
    app.add_option("--layers", c.layers,
                   "3x3 layers of vgg16, resnet50 (both the default), square (VGG-16's with as many filters as "
                   "channels), or channels x filters x side, or x width x height: 64x128x112,3x64x320x240");
    app.add_option("--batch", c.batch, "Pictures, a list: 1,8,32,64 (default 32, on a CPU 1)");
    app.add_option("--algorithms", c.algorithms,
                   "direct: one statement; f2, f4, f6: Winograd's, by tiles of so many pixels along each direction "
                   "(default all)");
    app.add_option("--types", c.types, "f32, f16, whose sums are in f32 (default f32)");
    app.footer(
        "Examples:\n"
        "  ricci bench conv --json conv.json\n"
        "  ricci bench conv --layers vgg16 --batch 1,8,32,64 --algorithms f4,f6 --types f32,f16 --peers cudnn\n"
        "  RICCI_NUM_THREADS=1 ricci bench conv --device cpu --layers square --csv -");
}

void add_factor(CLI::App& app, all_options& o) {
    bench::factor::options& f = o.factor;
    app.add_option("--routines", f.routines,
                   "cholesky, lu, qr (these three the default); solve (by LU), solve_positive (by Cholesky), "
                   "least_squares, inverse, in one call; triangular_solve; cholesky_solve, lu_solve, qr_solve, with "
                   "factors that are there");
    auto* const sizes =
        app.add_option("--sizes", f.sizes, "n of n x n matrices, a list (default 2..32,48,64,128,256,512)");
    app.add_option("--shape", f.shapes, "MxN, several with commas, of lu, qr, least_squares and qr_solve: 64x16,5x9")
        ->excludes(sizes);
    app.add_option("--rhs", f.sides, "Right-hand sides of each solve, a list (default 1)");
    app.add_option("--types", f.types, "f64, f32, c128, c64 (default f64)");
    app.add_option("--batch", f.batch, "How many matrices, a list; otherwise as many as take --bytes");
    app.add_option("--bytes", f.bytes,
                   "Memory traffic of a point, as 2GB (the default; on a CPU 200MB) or 4MB; of a solve that of its "
                   "factorization, so that both have the same batch. With the originals, operands take as much "
                   "memory, of solves twice as much");
    app.footer("Kernels of all points are made before the first is measured. Every call starts from the original "
               "matrices, which are put back untimed; of --energy the copies are measured apart and subtracted.\n"
               "Examples:\n"
               "  ricci bench factor --json factor.json\n"
               "  ricci bench factor --routines lu,qr --shape 64x16,128x32 --types f64,c128 --batch 1000,10000\n"
               "  ricci bench factor --routines lu,solve,lu_solve --sizes 8,16,32 --rhs 1,8 --energy\n"
               "  RICCI_NUM_THREADS=1 ricci bench factor --device cpu --processor-time --sizes 4..32:4 --csv -");
}

void add_statement(CLI::App& app, all_options& o) {
    app.add_option("statements", o.statements, "Statements in Einstein notation, separated by ';'; a row each")
        ->required();
    app.add_option("operands", o.operands,
                   "NAME=TYPE[EXTENT,...] for each tensor that is read; TYPE is f16, bf16, f32, f64, c64 or c128. "
                   "NAME=FILE.npy takes type and extents from the file. The elements are random");
    app.add_option("--offset", o.offset, offset_help)->check(few);
    app.footer(
        "Example:\n"
        "  ricci bench statement \"C(i,j,e) += A(i,k,e)*B(k,j,e)\" \"A=f64[8,8,100000]\" \"B=f64[8,8,100000]\" "
        "\"C=f64[8,8,100000]\"");
}

int run_statements(const all_options& o) {
    const resolved_program program = resolve_shapes(o.statements, o.operands);
    return bench::run_texts(program.statements, program.operands, o.offset, o.session);
}

} // namespace

std::function<int()> add_bench_command(CLI::App& app, const std::string& command) {
    const auto options = std::make_shared<all_options>();
    CLI::App* const bench_app = app.add_subcommand("bench", "Measure ricci against its peers");
    bench_app->require_subcommand(1);
    CLI::App* const batched_app =
        bench_app->add_subcommand("batched", "Batches of small products C(i,j,e) += A(i,k,e)*B(k,j,e)");
    add_batched(*batched_app, *options);
    CLI::App* const tall_app = bench_app->add_subcommand("tall-skinny", "Products with one long side: A^T*B and A*B");
    add_tall_skinny(*tall_app, *options);
    CLI::App* const fem_app = bench_app->add_subcommand(
        "fem", "Finite-element operators without matrices: CEED's bake-off problems BP1 to BP6 on hexahedra");
    add_fem(*fem_app, *options);
    CLI::App* const conv_app = bench_app->add_subcommand(
        "conv", "Layers of convolutional networks, by Winograd's algorithms and directly: VGG-16's and ResNet-50's");
    add_conv(*conv_app, *options);
    CLI::App* const factor_app = bench_app->add_subcommand(
        "factor", "Factorizations of the matrices of a batch, Cholesky, LU, QR, and solves with them");
    add_factor(*factor_app, *options);
    CLI::App* const statement_app = bench_app->add_subcommand("statement", "Any statement on random operands");
    add_statement(*statement_app, *options);
    for (CLI::App* const sub : {batched_app, tall_app, statement_app}) add_common(*sub, *options, peers_of_products);
    add_common(*fem_app, *options, peers_of_operators);
    add_common(*conv_app, *options, peers_of_layers);
    add_common(*factor_app, *options, peers_of_factorizations);
    for (CLI::App* const sub : {batched_app, tall_app, fem_app, conv_app, factor_app, statement_app})
        refuse_empty_options(*sub);
    bench_app->footer(
        "Examples:\n"
        "  ricci bench batched --sizes 1..32 --types f64,f32 --json batched.json\n"
        "  ricci bench tall-skinny --height 2^23 --widths 1..64 --types f64,f16:f32\n"
        "  ricci bench fem --bp 1..6 --orders 1..8 --json fem.json\n"
        "  ricci bench conv --layers vgg16,resnet50 --batch 1,8,32,64 --json conv.json\n"
        "  ricci bench factor --routines cholesky,lu,qr --types f64,f32 --json factor.json\n"
        "  ricci bench statement \"C(i,j,e) += A(i,k,e)*B(k,j,e)\" \"A=f64[8,8,1000]\" \"B=f64[8,8,1000]\" "
        "\"C=f64[8,8,1000]\"\n"
        "Exit codes: 0 done, 1 an option is wrong, 2 a result is wrong or the run failed, 130 stopped by Ctrl-C;\n"
        "what was measured until then is printed and written.");
    return [options, command, tall_app, fem_app, conv_app, factor_app, statement_app] {
        options->session.command = command;
        options->session.version = RICCI_VERSION;
        options->session.check = !options->no_check;
        if (*tall_app) return bench::run_tall_skinny(options->tall_skinny, options->session);
        if (*fem_app) return bench::fem::run(options->fem, options->session);
        if (*conv_app) return bench::conv::run(options->conv, options->session);
        if (*factor_app) return bench::factor::run(options->factor, options->session);
        if (*statement_app) return run_statements(*options);
        return bench::run_batched(options->batched, options->session);
    };
}

} // namespace ricci::tools
