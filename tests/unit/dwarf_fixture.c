/* SPDX-License-Identifier: Apache-2.0 */
/* A library of which t_dwarf_lines.c knows the lines. */
#include <stddef.h>

void *tare_fixture_outer(void *(*call)(size_t), size_t n);
void *tare_fixture_plain(void *(*call)(size_t), size_t n);

__attribute__((always_inline)) static inline void *inner(void *(*call)(size_t), size_t n)
{
	void *block = call(n + 1); /* line 10 */

	return block ? block : NULL;
}

__attribute__((always_inline)) static inline void *middle(void *(*call)(size_t), size_t n)
{
	return inner(call, 2 * n); /* line 17 */
}

__attribute__((noinline)) void *tare_fixture_outer(void *(*call)(size_t), size_t n)
{
	return middle(call, n + 7); /* line 22 */
}

__attribute__((noinline)) void *tare_fixture_plain(void *(*call)(size_t), size_t n)
{
	void *block = call(n); /* line 27 */

	return block ? block : NULL;
}
