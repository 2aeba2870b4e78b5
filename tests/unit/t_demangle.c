/* SPDX-License-Identifier: Apache-2.0 */
#include "base/demangle.h"
#include "test.h"

#include <string.h>

static void check(const char *mangled, const char *expected)
{
	struct tare_str s = { 0 };

	tare_demangle_add(&s, mangled);
	CHECK_STR(tare_str_text(&s), expected);
	tare_str_free(&s);
}

TEST(plain_functions)
{
	check("_Z9eat_stackPi", "eat_stack");
	check("_ZL9eat_stackPi", "eat_stack");
	check("_Z4fillIfEvPT_m", "fill<…>");
	check("_ZN3one3two5threeEPKf", "one::two::three");
	check("_ZN12_GLOBAL__N_16kernelEv", "(anonymous namespace)::kernel");
	check("_ZNK3vec4normEv", "vec::norm");
	check("_ZSt4sortIPiEvT_S1_", "std::sort<…>");
}

TEST(kernels_of_libraries)
{
	check("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEvi"
	      "T0_T1_",
	      "at::native::vectorized_elementwise_kernel<…>");
	check("_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_16fill_kernel_cudaERNS_14TensorIterator"
	      "ERKN3c106ScalarEENKUlvE_clEvENKUlvE_clEvEUlfE_St5arrayIPcLm2EEEEviT_T0_",
	      "at::native::unrolled_elementwise_kernel<…>");
	check("_ZN7cutlass7Kernel2I51cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4EEvNT_6ParamsE",
	      "cutlass::Kernel2<…>");
	check("_ZN8cublasLt12splitKreduceILi32ELi16EiffffLb0ELb1ELb0EEEv18cublasSplitKParamsIT4_EPKT2_",
	      "cublasLt::splitKreduce<…>");
	check("_Z10functionalPFviEA10_iM3vecf", "functional");
	check("_ZN3foo3barB5cxx11Ev", "foo::bar");
	check("_ZZN3foo3barEiENKUlvE_clEv", "foo::bar::{lambda}::operator()");
	check("_ZN3vecpLERKS_", "vec::operator");
	check("_ZN3vecC2Ev", "vec::{constructor}");
	check("_Z1fIL_Z1gvEEvv", "f<…>");
	check("_Z1fIN1a5ColorELS1_1EEvv", "f<…>");
	check("_ZN1a1gIM1bFvRiEXadL_ZNS1_clES2_EELj1EEEvT_", "a::g<…>");
	check("_ZN1a1gIXLi3EEEEvv", "a::g<…>");
}

TEST(operators_that_ask_for_memory)
{
	check("_Znwm", "operator new");
	check("_Znam", "operator new[]");
	check("_ZnwmSt11align_val_t", "operator new");
}

/* As rustc 1.95 names them with -C symbol-mangling-version=v0. */
TEST(functions_of_rust)
{
	check("_RNvCs6xxl1lAjzDf_1a4main", "a::main");
	check("_RNvXCs6xxl1lAjzDf_1aINtB2_5ShelfyENtB2_4Fill4fill", "<a::Shelf<…> as a::Fill>::fill");
	check("_RNvMs_Cs6xxl1lAjzDf_1aINtB4_5ShelfAhj40_E3putB4_", "<a::Shelf<…>>::put");
	check("_RNCNvNtCsjrHSEGnQ3l9_3std2rt19lang_start_internal0B5_", "std::rt::lang_start_internal::{closure#0}");
	check("_RNCNCNCNvNtCsjrHSEGnQ3l9_3std2rt19lang_start_internal00s_0B9_",
	      "std::rt::lang_start_internal::{closure#0}::{closure#0}::{closure#1}");
	check("_RINvMs_Cs6xxl1lAjzDf_1aINtB5_5ShelfAhj40_E3putRShDNtB5_4FillEL_EB5_", "<a::Shelf<…>>::put<…>");
	check("_RNvYShNtCs6xxl1lAjzDf_1a4Fill4fill", "<[u8] as a::Fill>::fill");
	check("_RNvXCs6xxl1lAjzDf_1aTRemENtB2_4Fill4fill", "<(&str, u32) as a::Fill>::fill");
	check("_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCs6xxl1lAjzDf_1a",
	      "<alloc::raw_vec::RawVecInner>::finish_grow");
}

/* Before v0: C++'s, with a hash behind. */
TEST(functions_of_rust_as_they_were)
{
	check("_ZN1a5cache17h54b7598eb98fde43E", "a::cache");
	check("_ZN47_$LT$a..Shelf$LT$u64$GT$$u20$as$u20$a..Fill$GT$4fill17h1fb1daa7397cea7cE",
	      "<a::Shelf<u64> as a::Fill>::fill");
	check("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17he39bdf0230cb3880E",
	      "std::rt::lang_start::{{closure}}");
	check("_ZN3one3two5threeEv", "one::two::three"); /* C++'s */
}

TEST(damaged_names_of_rust_stay)
{
	static const char name[] = "_RINvMs_Cs6xxl1lAjzDf_1aINtB5_5ShelfAhj40_E3putRShB5_";
	char cut[sizeof(name)];

	check("_R", "_R");
	check("_RNvB_4main", "_RNvB_4main"); /* refers to itself */
	check("_RNvNvB2_1aB_", "_RNvNvB2_1aB_");
	check("_RNvC99999999999999999999999x4main", "_RNvC99999999999999999999999x4main");
	check("_RNvCs_", "_RNvCs_");
	check("_ZN3foo17h54b7598eb98fde4xE", "foo::h54b7598eb98fde4x");
	for (size_t i = 0; i + 5 < sizeof(name); i++) {
		memcpy(cut, name, i);
		cut[i] = '\0';
		check(cut, cut);
	}
}

TEST(what_is_not_mangled_stays)
{
	check("", "");
	check("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn");
	check("_Z", "_Z");
	check("triton_poi_fused_add_0", "triton_poi_fused_add_0");
}

TEST(damaged_names_stay)
{
	static const char name[] = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorI";
	char cut[sizeof(name)];

	check("_Z99short", "_Z99short");
	check("_Z99999999999999999999999x", "_Z99999999999999999999999x");
	check("_ZNE", "_ZNE");
	check("_ZN3fooIQQEE", "_ZN3fooIQQEE");
	check("_ZN3fooIXplLi1ELi2EEEEvv", "_ZN3fooIXplLi1ELi2EEEEvv");
	check("_ZN3fooIXad", "_ZN3fooIXad");
	for (size_t i = 0; i < sizeof(name); i++) {
		memcpy(cut, name, i);
		cut[i] = '\0';
		check(cut, cut);
	}
}

TEST(nesting_without_end_is_given_up)
{
	char deep[4096] = "_Z1fI";

	memset(deep + 5, 'P', sizeof(deep) - 6);
	deep[sizeof(deep) - 1] = '\0';
	check(deep, deep);
	memset(deep + 5, 'N', sizeof(deep) - 6);
	check(deep, deep);
}
