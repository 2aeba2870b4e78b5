/* SPDX-License-Identifier: Apache-2.0 */
/* The flag that says that the program restricts its own system calls. */
#include "recorder/base/confined.h"

uint32_t tare_is_confined;
