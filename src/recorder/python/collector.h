/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_PYTHON_COLLECTOR_H
#define TARE_RECORDER_PYTHON_COLLECTOR_H

#include <stdbool.h>

/*
 * Does this thread run inside Python's cyclic collector? CPython 3.8 to 3.13; false where nobody knows.
 * A collection that lets another thread run Python meanwhile counts as that thread's too.
 */
bool tare_python_is_collecting(void);

#endif
