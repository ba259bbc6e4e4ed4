! fortran_interface: ricci from Fortran: a contraction as text, and products of a batch of matrices, on the CPU.
! Every result is compared with matmul's.
program fortran_interface
   use ricci
   implicit none
   integer, parameter :: rows = 12, columns = 9, inner = 20, batch = 500
   real(c_double), target :: a(rows, inner, batch), b(inner, columns, batch), c(rows, columns, batch)
   real(c_double) :: expected(rows, columns, batch)
   type(c_ptr), target :: to_a(batch), to_b(batch), to_c(batch)
   character(kind=c_char, len=2), target :: name_a = 'A'//c_null_char, name_b = 'B'//c_null_char, &
                                            name_c = 'C'//c_null_char
   integer(c_int64_t), target :: of_a(3) = shape(a), of_b(3) = shape(b), of_c(3) = shape(c)
   integer(c_int64_t), target :: too_long(3) = [inner + 1, columns, batch]
   type(ricci_operand) :: operands(3)
   integer :: e
   logical :: right = .true.

   call random_number(a)
   call random_number(b)

   ! 1. A statement as text.
   operands(1) = ricci_tensor(name_a, RICCI_F64, of_a, c_loc(a))
   operands(2) = ricci_tensor(name_b, RICCI_F64, of_b, c_loc(b))
   operands(3) = ricci_tensor(name_c, RICCI_F64, of_c, c_loc(c))
   call check(ricci_contract('C(i,j,e) = A(i,k,e)*B(k,j,e)'//c_null_char, 3, operands))
   do e = 1, batch
      expected(:, :, e) = matmul(a(:, :, e), b(:, :, e))
   end do
   call compare('contraction as text')

   ! 2. C = -0.5*A*B + 2*C, a stride apart.
   call check(ricci_gemm_strided_batched(RICCI_CPU, 'N', 'N', of_c(1), of_c(2), of_a(2), [-0.5_c_double], &
      c_loc(a), RICCI_F64, of_a(1), of_a(1)*of_a(2), c_loc(b), RICCI_F64, of_b(1), of_b(1)*of_b(2), &
      [2.0_c_double], c_loc(c), RICCI_F64, of_c(1), of_c(1)*of_c(2), of_c(3)))
   call expect_product()
   call compare('batch of products, a stride apart')

   ! 3. The same by arrays of pointers.
   do e = 1, batch
      to_a(e) = c_loc(a(1, 1, e))
      to_b(e) = c_loc(b(1, 1, e))
      to_c(e) = c_loc(c(1, 1, e))
   end do
   call check(ricci_gemm_batched(RICCI_CPU, 'N', 'N', of_c(1), of_c(2), of_a(2), [-0.5_c_double], c_loc(to_a), &
      RICCI_F64, of_a(1), c_loc(to_b), RICCI_F64, of_b(1), [2.0_c_double], c_loc(to_c), RICCI_F64, of_c(1), of_c(3)))
   call expect_product()
   call compare('batch of products, by pointers')

   ! 4. What is wrong is refused, and named.
   operands(2) = ricci_tensor(name_b, RICCI_F64, too_long, c_loc(b))
   right = right .and. ricci_contract('C(i,j,e) = A(i,k,e)*B(k,j,e)'//c_null_char, 3, operands) == RICCI_REFUSED
   print '(/,a,/,a)', 'A mistake says', ricci_last_error()
   if (.not. right) stop 1

contains

   subroutine check(status)
      integer(c_int), intent(in) :: status
      if (status == RICCI_SUCCESS) return
      print '(a,i0)', 'fortran_interface: '//ricci_last_error()//', status ', status
      stop 2
   end subroutine

   subroutine expect_product()
      integer :: n
      do n = 1, batch
         expected(:, :, n) = 2*expected(:, :, n) - 0.5_c_double*matmul(a(:, :, n), b(:, :, n))
      end do
   end subroutine

   subroutine compare(what)
      character(len=*), intent(in) :: what
      real(c_double) :: largest
      largest = maxval(abs(c - expected))
      print '(a34,a,es8.1,a)', what, ' largest difference', largest, merge(': right', ': WRONG', largest < 1e-12)
      right = right .and. largest < 1e-12
   end subroutine

end program
