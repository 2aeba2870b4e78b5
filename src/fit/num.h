/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_FIT_NUM_H
#define TARE_FIT_NUM_H

#include <stddef.h>

/*
 * The few functions of libm that a fit takes. Our own, because libm would be one more library that
 * the shipped program needs, and its log and pow are younger than the oldest glibc we run on.
 * Good to 12 digits.
 */
double tare_num_log(double x);  /* natural; x > 0 */
double tare_num_sqrt(double x); /* x >= 0 */
double tare_num_abs(double x);

/* Two-sided: |t| of Student's distribution is below the result in 90 of 100 cases. */
double tare_num_student90(size_t freedom);

/* The value below which `share` of the values lie (ceil(share·count)-th smallest); sorts `values`. */
double tare_num_quantile(double *values, size_t count, double share);

#endif
