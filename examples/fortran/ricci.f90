! ricci: the C interface of ricci, ricci.h, for Fortran 2008: copy this file into your project.
!
! What each procedure does, its arguments and statuses, stands in ricci.h. Extents and strides count elements, and the
! first index is the fastest, as in Fortran. In an operand the text of the name, the extents and the data must be
! targets.
module ricci
   use, intrinsic :: iso_c_binding
   implicit none

   integer(c_int), parameter :: RICCI_SUCCESS = 0, RICCI_REFUSED = 1, RICCI_ENVIRONMENT = 2, &
                                RICCI_OUT_OF_MEMORY = 3, RICCI_INTERNAL = 4
   integer(c_int), parameter :: RICCI_F16 = 1, RICCI_BF16 = 2, RICCI_F32 = 3, RICCI_F64 = 4, RICCI_C64 = 5, &
                                RICCI_C128 = 6, RICCI_I32 = 7, RICCI_I64 = 8
   integer(c_int), parameter :: RICCI_CPU = 0, RICCI_NUMBER = 1
   integer(c_int), parameter :: RICCI_MATH_FULL = 0, RICCI_MATH_TF32 = 1
   integer(c_int), parameter :: RICCI_TUNING_OFF = 0, RICCI_TUNING_CACHED = 1, RICCI_TUNING_ON_FIRST_USE = 2

   type, bind(c) :: ricci_operand
      type(c_ptr) :: name = c_null_ptr
      integer(c_int) :: type = 0
      integer(c_int) :: rank = 0
      type(c_ptr) :: extents = c_null_ptr
      type(c_ptr) :: strides = c_null_ptr
      type(c_ptr) :: data = c_null_ptr
      integer(c_int) :: device = RICCI_CPU
   end type

   interface
      integer(c_int) function ricci_contract(text, count, operands) bind(c)
         import :: c_char, c_int, ricci_operand
         character(kind=c_char), intent(in) :: text(*) ! ends with c_null_char
         integer(c_int), value :: count
         type(ricci_operand), intent(in) :: operands(*)
      end function

      integer(c_int) function ricci_prepare(text, count, operands, program) bind(c)
         import :: c_char, c_int, c_ptr, ricci_operand
         character(kind=c_char), intent(in) :: text(*)
         integer(c_int), value :: count
         type(ricci_operand), intent(in) :: operands(*)
         type(c_ptr), intent(out) :: program
      end function

      integer(c_int) function ricci_run(program, count, data) bind(c)
         import :: c_int, c_ptr
         type(c_ptr), value :: program
         integer(c_int), value :: count
         type(c_ptr), intent(in) :: data(*)
      end function

      subroutine ricci_release(program) bind(c)
         import :: c_ptr
         type(c_ptr), value :: program
      end subroutine

      integer(c_int) function ricci_explain(text, count, operands, text_out, size, length) bind(c)
         import :: c_char, c_int, c_size_t, ricci_operand
         character(kind=c_char), intent(in) :: text(*)
         integer(c_int), value :: count
         type(ricci_operand), intent(in) :: operands(*)
         character(kind=c_char), intent(out) :: text_out(*)
         integer(c_size_t), value :: size
         integer(c_size_t), intent(out) :: length
      end function

      integer(c_int) function ricci_gemm_strided_batched(device, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, &
            stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, count) bind(c)
         import :: c_char, c_double, c_int, c_int64_t, c_ptr
         integer(c_int), value :: device, type_a, type_b, type_c
         character(kind=c_char), value :: trans_a, trans_b
         integer(c_int64_t), value :: m, n, k, lda, stride_a, ldb, stride_b, ldc, stride_c, count
         real(c_double), intent(in) :: alpha(*), beta(*) ! the real part, and the imaginary one where C is complex
         type(c_ptr), value :: a, b, c
      end function

      integer(c_int) function ricci_gemm_batched(device, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, b, &
            type_b, ldb, beta, c, type_c, ldc, count) bind(c)
         import :: c_char, c_double, c_int, c_int64_t, c_ptr
         integer(c_int), value :: device, type_a, type_b, type_c
         character(kind=c_char), value :: trans_a, trans_b
         integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, count
         real(c_double), intent(in) :: alpha(*), beta(*)
         type(c_ptr), value :: a, b, c ! c_loc of an array of c_ptr on the CPU, or a device's memory
      end function

      integer(c_int) function ricci_default_device(device) bind(c)
         import :: c_int
         integer(c_int), intent(out) :: device
      end function

      integer(c_int) function ricci_set_stream(device, stream) bind(c)
         import :: c_int, c_ptr
         integer(c_int), value :: device
         type(c_ptr), value :: stream
      end function

      integer(c_int) function ricci_synchronize(device) bind(c)
         import :: c_int
         integer(c_int), value :: device
      end function

      integer(c_int) function ricci_allocate(device, bytes, memory) bind(c)
         import :: c_int, c_ptr, c_size_t
         integer(c_int), value :: device
         integer(c_size_t), value :: bytes
         type(c_ptr), intent(out) :: memory
      end function

      integer(c_int) function ricci_free(device, memory) bind(c)
         import :: c_int, c_ptr
         integer(c_int), value :: device
         type(c_ptr), value :: memory
      end function

      integer(c_int) function ricci_copy(to, target, from, source, bytes) bind(c)
         import :: c_int, c_ptr, c_size_t
         integer(c_int), value :: to, from
         type(c_ptr), value :: target, source
         integer(c_size_t), value :: bytes
      end function

      integer(c_int) function ricci_set_math(math) bind(c)
         import :: c_int
         integer(c_int), value :: math
      end function

      integer(c_int) function ricci_set_tuning(tuning) bind(c)
         import :: c_int
         integer(c_int), value :: tuning
      end function

      type(c_ptr) function ricci_last_error_c() bind(c, name='ricci_last_error')
         import :: c_ptr
      end function

      integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
         import :: c_ptr, c_size_t
         type(c_ptr), value :: text
      end function
   end interface

contains

   !> A GPU, counted from 0.
   pure integer(c_int) function ricci_cuda(ordinal)
      integer, intent(in) :: ordinal
      ricci_cuda = int(256 + ordinal, c_int)
   end function

   !> A dense tensor that a text names. `name` ends with c_null_char; it and `extents` are targets, which live as long
   !> as the operand.
   function ricci_tensor(name, type, extents, data, device) result(operand)
      character(len=*, kind=c_char), target, intent(in) :: name
      integer(c_int), intent(in) :: type
      integer(c_int64_t), contiguous, target, intent(in) :: extents(:)
      type(c_ptr), intent(in) :: data
      integer(c_int), optional, intent(in) :: device
      type(ricci_operand) :: operand
      operand%name = c_loc(name)
      operand%type = type
      operand%rank = int(size(extents), c_int)
      operand%extents = c_loc(extents)
      operand%data = data
      if (present(device)) operand%device = device
   end function

   !> What went wrong in the last call that failed.
   function ricci_last_error() result(message)
      character(len=:), allocatable :: message
      character(kind=c_char), pointer :: letters(:)
      type(c_ptr) :: text
      integer :: n
      text = ricci_last_error_c()
      call c_f_pointer(text, letters, [c_strlen(text)])
      allocate (character(len=size(letters)) :: message)
      do n = 1, size(letters)
         message(n:n) = letters(n)
      end do
   end function

end module
