/* SPDX-License-Identifier: Apache-2.0 */
/* Included behind either set of types: abi.def as numbers. */
struct abi_row {
	const char *name;
	unsigned long value;
};
/* clang-format off */
#define SIZE(TYPE)        { "sizeof " #TYPE, sizeof(TYPE) },
#define FIELD(TYPE, NAME) { #TYPE "." #NAME, offsetof(TYPE, NAME) },
#define VALUE(NAME)       { #NAME, (unsigned long)(NAME) },
#define ABI_ROWS(ARRAY)   const struct abi_row ARRAY[] = {
#define ABI_ROWS_END      { NULL, 0 } };
/* clang-format on */
