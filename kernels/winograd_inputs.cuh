// winograd_inputs: the warps that bring the tiles' inputs and transform them into the stages' V.
#pragma once

#include "winograd_memory.cuh"

/// Tiles and channels of a stage that the lanes of a warp have: tiles 8g + lane / 4, channels of_lane*(lane % 4) + e.
constexpr int group_warps = column_tiles < producer_warps ? column_tiles : producer_warps;
constexpr int channel_warps = producer_warps / group_warps, channel_turns = of_lane / channel_warps;
static_assert(column_tiles == group_warps && channel_turns * channel_warps == of_lane);

/// Where both directions have one matrix of the inputs, and registers hold it beside a channel's inputs.
constexpr bool keeps_matrix = one_input_matrix && inputs <= 36;

/// The matrix, if it is kept. It is mirrored where rows 2i - 1 and 2i differ by the sign of their odd elements, row 0
/// has no odd ones and the last no even ones, as those of interpolation points 0, a, -a, b, -b, ... and infinity: then
/// three fifths of the multiply-adds are enough.
struct input_matrix_of_block {
    static constexpr int size = keeps_matrix ? point_extent[0] : 1, length = keeps_matrix ? input_extent[0] : 1;
    float b[size][length];
    bool mirrored = false;

    RICCI_FUNCTION explicit input_matrix_of_block(const block_memory& at) {
        if constexpr (keeps_matrix) {
            RICCI_UNROLL
            for (int p = 0; p < length; ++p) {
                const matrix_row column(at.matrix(0) + p * matrix_line);
                RICCI_UNROLL
                for (int u = 0; u < size; ++u) b[u][p] = column.at(u);
            }
            mirrored = size % 2 == 0;
            RICCI_UNROLL
            for (int p = 0; p < length; ++p) {
                mirrored = mirrored && (p % 2 == 0 ? b[size - 1][p] : b[0][p]) == 0;
                RICCI_UNROLL
                for (int u = 1; u + 1 < size; u += 2)
                    mirrored = mirrored && b[u + 1][p] == (p % 2 == 0 ? b[u][p] : -b[u][p]);
            }
        }
    }
    RICCI_FUNCTION bool is_mirrored() const { return mirrored; }

    /// Calls put(i, sum over j of row i times of(j)) for all rows.
    template <bool Mirrored, class Of, class Put> RICCI_FUNCTION void multiply(const Of& of, const Put& put) const {
        if constexpr (Mirrored) {
            put(0, some_of<0>(0, of));
            RICCI_UNROLL
            for (int u = 1; u + 1 < size; u += 2) {
                const float even = some_of<0>(u, of), odd = some_of<1>(u, of);
                put(u, even + odd);
                put(u + 1, even - odd);
            }
            put(size - 1, some_of<1>(size - 1, of));
        } else {
            RICCI_UNROLL
            for (int u = 0; u < size; ++u) put(u, some_of<0, 1>(u, of));
        }
    }

  private:
    template <int First, int Step = 2, class Of> RICCI_FUNCTION float some_of(int row, const Of& of) const {
        float sum = 0;
        RICCI_UNROLL
        for (int j = First; j < length; j += Step) sum += b[row][j] * of(j);
        return sum;
    }
};

/// What a thread asks for next: a tile's inputs of one channel.
class inputs_ahead {
    using element = typename type_of<operand_type[image_operand]>::type;

  public:
    RICCI_FUNCTION void start(const arguments& a) {
        column_step_ = stride_along<image_operand, input_axis(0)>(a);
        row_step_ = second_stride<image_operand, input_axis(directions - 1)>(a);
        channel_step_ = stride_along<image_operand, channel_axis>(a);
        channels_ = static_cast<int>(a.extent[channel_axis]);
        const int warp = static_cast<int>(threadIdx.x) / 32 - consumer_warps, lane = threadIdx.x % 32;
        group_ = warp % group_warps;
        first_channel_ = of_lane * (lane % 4) + warp / group_warps;
        begin_part(a);
    }
    RICCI_FUNCTION void move_on(const arguments& a) {
        ++turn_;
        constexpr int to_next_stage = channels_of_stage - channel_warps * (channel_turns - 1);
        channel_ += turn_ % channel_turns != 0 ? channel_warps : to_next_stage;
        if (channel_ - first_channel_ >= channels_ && turn_ % channel_turns == 0) part_.move_on(), begin_part(a);
    }
    /// All of them, zero where there are none. Vectors of neighbors, where they are aligned: whole ones are inside.
    RICCI_FUNCTION void load(float (&d)[input_extent[0]][input_extent[1]]) const {
        const element* const first = first_ + channel_ * channel_step_;
        if (input_vector > 1 && have_aligned_lines<element, input_vector>(first + input_lead, 0))
            load_by<input_vector>(first, d);
        else load_by<1>(first, d);
    }

  private:
    template <int Vector>
    RICCI_FUNCTION void load_by(const element* first, float (&d)[input_extent[0]][input_extent[1]]) const {
        RICCI_UNROLL
        for (int q = 0; q < input_extent[1]; ++q) load_row<Vector, 0>(first + q * row_step_, q, d);
    }
    template <int Vector, int P>
    RICCI_FUNCTION void load_row(const element* row, int q, float (&d)[input_extent[0]][input_extent[1]]) const {
        if constexpr (P < input_extent[0]) {
            constexpr bool begins = P >= input_lead && (P - input_lead) % Vector == 0;
            constexpr int count = begins && P + Vector <= input_extent[0] ? Vector : 1;
            RICCI_UNROLL
            for (int i = 0; i < count; ++i) d[P + i][q] = 0;
            if (exists(P, q)) {
                if constexpr (count > 1) {
                    const auto several = load_neighbors<element, count>(row + P);
                    RICCI_UNROLL
                    for (int i = 0; i < count; ++i) d[P + i][q] = load_as<float>(several.at(i));
                } else {
                    d[P][q] = load_as<float>(row[P * column_step_]);
                }
            }
            load_row<Vector, P + count>(row, q, d);
        }
    }
    RICCI_FUNCTION bool exists(int p, int q) const {
        return channel_ < channels_ && (inside_ >> (p + input_extent[0] * q) & 1);
    }
    RICCI_FUNCTION void begin_part(const arguments& a) {
        turn_ = 0, channel_ = first_channel_;
        const long long tile = part_.first_tile(a) + 8 * group_ + static_cast<int>(threadIdx.x) % 32 / 4;
        const bool exists = tile < a.work_items;
        long long x[axis_count] = {};
        go_to_tile(a, exists ? static_cast<int>(tile) : 0, x);
        inside_ = exists ? inside_of<image_operand, input_axis(0), input_extent[0], input_extent[1]>(a, x) : 0;
        first_ = element_at<image_operand>(a, x);
    }

    work_part part_;
    const element* first_; ///< of the tile, its first channel
    long long column_step_, row_step_, channel_step_;
    unsigned long long inside_;
    int channels_, group_, first_channel_, channel_, turn_;
};

class input_transform {
  public:
    /// Asks for the first inputs.
    RICCI_FUNCTION void start(const arguments& a) {
        next_.start(a);
        next_.load(d_);
    }

    /// Of the inputs that are asked for, into a stage; asks for the next ones meanwhile.
    RICCI_FUNCTION void transform(const arguments& a, const block_memory& at, const input_matrix_of_block& b,
                                  int stage, int turn) {
        if constexpr (keeps_matrix) {
            if (b.is_mirrored()) return transform_by<true>(a, at, b, stage, turn);
        }
        transform_by<false>(a, at, b, stage, turn);
    }

  private:
    template <bool Mirrored>
    RICCI_FUNCTION void transform_by(const arguments& a, const block_memory& at, const input_matrix_of_block& b,
                                     int stage, int turn) {
        transform_columns<Mirrored>(at, b);
        next_.move_on(a);
        next_.load(d_);
        transform_rows<Mirrored>(at, b, stage, turn);
    }

    template <bool Mirrored>
    RICCI_FUNCTION void transform_columns(const block_memory& at, const input_matrix_of_block& b) {
        if constexpr (keeps_matrix) {
            RICCI_UNROLL
            for (int q = 0; q < input_extent[1]; ++q)
                b.template multiply<Mirrored>([&](int p) { return d_[p][q]; },
                                              [&](int u, float sum) { t_[u][q] = sum; });
        } else {
            RICCI_UNROLL
            for (int u = 0; u < point_extent[0]; ++u)
                RICCI_UNROLL
                for (int q = 0; q < input_extent[1]; ++q) t_[u][q] = 0;
            RICCI_UNROLL
            for (int p = 0; p < input_extent[0]; ++p) {
                const matrix_row column(at.matrix(0) + p * matrix_line);
                RICCI_UNROLL
                for (int u = 0; u < point_extent[0]; ++u)
                    RICCI_UNROLL
                    for (int q = 0; q < input_extent[1]; ++q) t_[u][q] += column.at(u) * d_[p][q];
            }
        }
    }
    template <bool Mirrored>
    RICCI_FUNCTION void transform_rows(const block_memory& at, const input_matrix_of_block& b, int stage,
                                       int turn) const {
        const int warp = static_cast<int>(threadIdx.x) / 32 - consumer_warps, lane = threadIdx.x % 32;
        const int e = warp / group_warps + channel_warps * turn;
        // Of f32 the upper half of the lanes have their two channels the other way round: no two meet in a bank.
        const int place = of_lane * lane + (of_lane == 2 ? e ^ lane >> 4 : e);
        auto* const into =
            reinterpret_cast<transformed*>(at.tiles(stage) + warp % group_warps * bytes_of_column_tile) + place;
        const auto store = [&](int u, int v, float sum) {
            constexpr int of_point = column_tiles * bytes_of_column_tile / static_cast<int>(sizeof(transformed));
            into[(u + point_extent[0] * v) * of_point] = store_as<transformed>(sum);
        };
        if constexpr (keeps_matrix) {
            RICCI_UNROLL
            for (int u = 0; u < point_extent[0]; ++u)
                b.template multiply<Mirrored>([&](int q) { return t_[u][q]; },
                                              [&](int v, float sum) { store(u, v, sum); });
        } else {
            RICCI_UNROLL
            for (int v = 0; v < point_extent[1]; ++v)
                along_second<input_extent[1]>(at.matrix(1) + v * matrix_line, t_,
                                              [&](int u, float sum) { store(u, v, sum); });
        }
    }

    inputs_ahead next_;
    float d_[input_extent[0]][input_extent[1]], t_[point_extent[0]][input_extent[1]];
};

/// Asks for U of a stage, which lies as winograd_filters leaves it: all of a block's in one piece. (A piece for each
/// point was slower by far: a thread takes 30 cycles and more to ask for one.)
RICCI_FUNCTION void copy_filters(const arguments& a, const block_memory& at, long long number, int slot) {
    arrive_expecting(at.full(slot), filter_bytes);
    bulk_load(at.filters(slot), static_cast<const unsigned char*>(a.data[packed_operand]) + number * filter_bytes,
              filter_bytes, at.full(slot));
}

/// `inputs_of_tiles`: the first ones have been asked for.
RICCI_FUNCTION void produce(const arguments& a, const block_memory& at, input_transform& inputs_of_tiles) {
    const bool copies = threadIdx.x == 32 * consumer_warps;
    const input_matrix_of_block b(at);
    const int stage_count = stages_of_sum(a);
    ring_turn ring;
    RICCI_UNROLL_ONCE
    for (work_part part; part.exists(a); part.move_on()) {
        const long long first = static_cast<long long>(part.filter_block(a)) * stage_count;
        RICCI_UNROLL_ONCE
        for (int stage = 0; stage < stage_count; ++stage) {
            if (!ring.first_round) wait_barrier(at.empty(ring.slot), ring.parity ^ 1);
            if (copies) copy_filters(a, at, first + stage, ring.slot);
            RICCI_UNROLL
            for (int turn = 0; turn < channel_turns; ++turn) inputs_of_tiles.transform(a, at, b, ring.slot, turn);
            arrive_expecting(at.full(ring.slot), 0);
            ring.move_on();
        }
    }
}
