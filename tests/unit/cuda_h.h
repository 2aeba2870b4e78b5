/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_TESTS_CUDA_H
#define TARE_TESTS_CUDA_H

struct cuda_h_value {
	const char *name;
	long value;
};
extern const struct cuda_h_value cuda_h_values[]; /* as the toolkit has them; NULL at the end */

#endif
