// chain_phases: what is done for one item of a chain's phase; what chain.cuh and chain_cpu.hpp share.
//
// `Place` is where: the item, its element (a CPU: the elements of a vector), and how numbers are loaded and stored.
#pragma once

#include "chain_tables.hpp"

enum chain_work { work_load, work_scalar, work_compute, work_multiply_row, work_add_row, work_store };

template <int P, int Points, class Place> struct item_work {
    using number = typename Place::number;
    const Place& at;
    number (&pencil)[at_least_one(phase_pencil_numbers[P])];
    number value[at_least_one(phase_values[P])][Points];
    int point;

    RICCI_FUNCTION item_work(const Place& where, number (&pencils)[at_least_one(phase_pencil_numbers[P])], int first)
        : at(where), pencil(pencils), point(first) {}

    /// Operations [First, Last): halved, so that templates do not nest deeply.
    template <int First, int Last> RICCI_FUNCTION void run() {
        if constexpr (Last - First == 1) run_one<First>();
        else if constexpr (Last > First) {
            run<First, (First + Last) / 2>();
            run<(First + Last) / 2, Last>();
        }
    }

    template <int Op> RICCI_FUNCTION void run_one() {
        constexpr int kind = op_kind[Op], out = op_result[Op], first = op_a[Op], second = op_b[Op];
        if constexpr (kind == work_multiply_row) {
            multiply_rows<op_pencil[Op], op_matrix[Op]>(value[out]);
        } else if constexpr (kind == work_add_row) {
            add_rows<op_pencil[Op], op_matrix[Op]>(value[first]);
        } else {
            RICCI_IN_REGISTERS
            for (int u = 0; u < Points; ++u) {
                if constexpr (kind == work_load) value[out][u] = at.template load<op_view[Op]>(point + u, 0);
                else if constexpr (kind == work_scalar) value[out][u] = at.scalar(first);
                else if constexpr (kind == work_store)
                    at.template store<op_view[Op], op_accumulation[Op]>(point + u, 0, value[first][u]);
                else if constexpr (takes_two(op_function[Op]))
                    value[out][u] = Place::template applied<op_function[Op]>(value[first][u], value[second][u]);
                else value[out][u] = Place::template applied<op_function[Op]>(value[first][u]);
            }
        }
    }

    /// sums[u] = the pencil times the matrix's row of point u.
    template <int Q, int M> RICCI_FUNCTION void multiply_rows(number (&sums)[Points]) {
        constexpr int length = pencil_length[Q], begin = pencil_begin[Q];
        using factors = typename Place::template factors<M>;
        RICCI_IN_REGISTERS
        for (int u = 0; u < Points; ++u) sums[u] = Place::zero();
        RICCI_IN_REGISTERS
        for (int n = 0; n < length; n += factors::count)
            RICCI_IN_REGISTERS
            for (int u = 0; u < Points; ++u) {
                const factors row(at, point + u, n);
                RICCI_IN_REGISTERS
                for (int j = 0; j < factors::count; ++j)
                    if (n + j < length) Place::add_product(sums[u], pencil[begin + n + j], row.x[j]);
            }
    }

    /// The pencil += values[u] times the row of point u.
    template <int Q, int M> RICCI_FUNCTION void add_rows(const number (&values)[Points]) {
        constexpr int length = pencil_length[Q], begin = pencil_begin[Q];
        using factors = typename Place::template factors<M>;
        RICCI_IN_REGISTERS
        for (int n = 0; n < length; n += factors::count)
            RICCI_IN_REGISTERS
            for (int u = 0; u < Points; ++u) {
                const factors row(at, point + u, n);
                RICCI_IN_REGISTERS
                for (int j = 0; j < factors::count; ++j)
                    if (n + j < length) Place::add_product(pencil[begin + n + j], values[u], row.x[j]);
            }
    }
};

template <int P, int First, class Place, class Number>
RICCI_FUNCTION void begin_pencils(const Place& at, Number (&pencil)[at_least_one(phase_pencil_numbers[P])]) {
    if constexpr (First < phase_first_pencil[P] + phase_pencils[P]) {
        RICCI_IN_REGISTERS
        for (int n = 0; n < pencil_length[First]; ++n)
            if constexpr (pencil_is_output[First]) pencil[pencil_begin[First] + n] = Place::zero();
            else pencil[pencil_begin[First] + n] = at.template load<pencil_view[First]>(0, n);
        begin_pencils<P, First + 1>(at, pencil);
    }
}

template <int P, int First, class Place, class Number>
RICCI_FUNCTION void end_pencils(const Place& at, Number (&pencil)[at_least_one(phase_pencil_numbers[P])]) {
    if constexpr (First < phase_first_pencil[P] + phase_pencils[P]) {
        if constexpr (pencil_is_output[First])
            RICCI_IN_REGISTERS
            for (int n = 0; n < pencil_length[First]; ++n)
                at.template store<pencil_view[First], pencil_accumulation[First]>(0, n, pencil[pencil_begin[First] + n]);
        end_pencils<P, First + 1>(at, pencil);
    }
}

template <int P, int Points, class Place, class Number>
RICCI_FUNCTION void run_points(const Place& at, Number (&pencil)[at_least_one(phase_pencil_numbers[P])], int first) {
    item_work<P, Points, Place> work(at, pencil, first);
    work.template run<phase_first_op[P], phase_first_op[P] + phase_ops[P]>();
}

template <int P, class Place> RICCI_FUNCTION void run_item(const Place& at) {
    typename Place::number pencil[at_least_one(phase_pencil_numbers[P])];
    begin_pencils<P, phase_first_pencil[P]>(at, pencil);
    constexpr int points = points_of_phase<P>, some = phase_unrolled[P], whole = points / some * some;
    if constexpr (phase_is_written_out[P]) {
        RICCI_IN_REGISTERS
        for (int c = 0; c < whole; c += some) run_points<P, some>(at, pencil, c);
    } else {
        RICCI_UNROLL_ONCE
        for (int c = 0; c < whole; c += some) run_points<P, some>(at, pencil, c);
    }
    if constexpr (whole < points) run_points<P, points - whole>(at, pencil, whole);
    end_pencils<P, phase_first_pencil[P]>(at, pencil);
}
