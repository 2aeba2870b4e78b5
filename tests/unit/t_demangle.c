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

TEST(what_is_not_mangled_stays)
{
	check("", "");
	check("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn");
	check("_Z", "_Z");
	check("triton_poi_fused_add_0", "triton_poi_fused_add_0");
}

TEST(damaged_names_stay)
{
	static const char name[] =
		"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorI";
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
