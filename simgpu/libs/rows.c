/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one simulated library that its table alone says: SIM_TABLE is that table's name. */
#include "simgpu/libs/row.h"

/* clang-format off */
#include SIM_TABLE
