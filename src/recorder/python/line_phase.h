/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tare run --phase FILE:LINE`: lines of a Python program as phases, without an edit. Where it was not
 * asked for, no interpreter is touched.
 *
 * The interpreter is found by the names it exports, never linked. Its first look-up of a PyInit_
 * function is where it surely holds its lock and is about to run on: from there one call is left with
 * it (Py_AddPendingCall), which it makes in its main thread between two of its own instructions. That
 * runs line_phase_code.py, a page of Python that has the interpreter tell of lines: sys.monitoring from 3.12 on,
 * for the functions that hold the lines; sys.settrace before, unless the program traces itself.
 */
#ifndef TARE_RECORDER_PYTHON_LINE_PHASE_H
#define TARE_RECORDER_PYTHON_LINE_PHASE_H

/* Somebody looks up a symbol whose name begins with PyInit_: the interpreter's lock is held. */
void tare_line_phase_see_init(void);

#endif
