// consumer: a product of two small matrices from C; exits 1 where it is wrong.
#include <ricci/ricci.h>

#include <stdio.h>

int main(void) {
    double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 0, 1, 1}, c[4] = {0};
    const int64_t of_a[] = {2, 3}, of_b[] = {3, 2}, of_c[] = {2, 2};
    const ricci_operand operands[] = {
        {"A", RICCI_F64, 2, of_a, NULL, a, RICCI_CPU},
        {"B", RICCI_F64, 2, of_b, NULL, b, RICCI_CPU},
        {"C", RICCI_F64, 2, of_c, NULL, c, RICCI_CPU},
    };
    const ricci_status status = ricci_contract("C(i,j) = A(i,k)*B(k,j)", 3, operands);
    const int right = status == RICCI_SUCCESS && c[0] == 11 && c[1] == 14 && c[2] == 8 && c[3] == 10;
    printf("%s in C, by ricci %s %s\n", right ? "right" : "WRONG", ricci_version(), ricci_last_error());
    return right ? 0 : 1;
}
