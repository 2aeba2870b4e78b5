/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_NUM_H
#define TARE_FIT_NUM_H

#include <stddef.h>

/* Two-sided: |t| of Student's distribution is below the result in 90 of 100 cases. */
double tare_num_student90(size_t freedom);

/* The value below which `share` of the values lie (ceil(share·count)-th smallest); sorts `values`. */
double tare_num_quantile(double *values, size_t count, double share);

#endif
