/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice without unwind tables: CODE names the function, with and without frame pointer. */
#include "code.h"

__attribute__((noinline)) int CODE(int depth, code_fn then, void *arg)
{
	if (!depth) {
		then(arg);
		return 1;
	}
	return CODE(depth - 1, then, arg) + 1;
}
