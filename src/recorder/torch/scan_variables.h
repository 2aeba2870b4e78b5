/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What variables of the program are called that hold modules and keep tensors: those of `__main__`, of the functions
 * of the program that the main thread is in, and of the objects called `self` there. Functions of libraries have none that
 * a reader of the program would know.
 */
#ifndef TARE_RECORDER_TORCH_SCAN_VARIABLES_H
#define TARE_RECORDER_TORCH_SCAN_VARIABLES_H

#include "recorder/torch/scan_say.h"

/* Pre: the GIL is held by the calling thread, and Python collects no garbage. */
struct tare_scan_variables {
	struct tare_scan *scan;
	struct py_object *module, *optimizer; /* classes, or NULL */
	/* of a variable: `name` is a text of Python, `value` is borrowed */
	void (*see)(const struct tare_scan_variables *v, struct py_object *name, struct py_object *value);
};

void tare_scan_each_variable(const struct tare_scan_variables *v);

/* scan_kept.c: tensors in lists, dictionaries and objects of the program are told with the variable that has these. */
void tare_scan_kept(struct tare_scan *s, struct py_object *module, struct py_object *optimizer);
/* Modules that are in no other have the name of a variable. */
void tare_scan_roots(struct tare_scan *s, struct py_object *module);

#endif
