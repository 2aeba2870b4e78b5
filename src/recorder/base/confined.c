/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/base/confined.h"

uint32_t tare_is_confined;
