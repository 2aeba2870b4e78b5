/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_AUTOGRAD_H
#define TARE_RECORDER_TORCH_AUTOGRAD_H

#include <stdint.h>

/* What the calling thread is doing, as enum tare_tensor_flag: BACKWARD, GRAD. Reads two words. */
uint32_t tare_autograd_flags(void);
uint32_t tare_autograd_backward(void); /* BACKWARD only */

#endif
