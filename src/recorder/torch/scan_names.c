/* SPDX-License-Identifier: Apache-2.0 */
/* Names in modules that are there already, and calls of functions in C. No exception gets out. */
#include <stddef.h>

#include "recorder/torch/scan_api.h"

struct py_object *tare_scan_item(const struct tare_scan_api *py, struct py_object *dict, const char *name)
{
	return dict ? py->PyDict_GetItemString(dict, name) : NULL;
}

/* A program may have put anything under that name. */
struct py_object *tare_scan_module(const struct tare_scan_api *py, const char *name)
{
	struct py_object *module = tare_scan_item(py, py->PyImport_GetModuleDict(), name);
	struct py_object *dict = module ? py->PyModule_GetDict(module) : NULL;

	if (!dict)
		py->PyErr_Clear();
	return dict;
}

struct py_object *tare_scan_builtin(const struct tare_scan_api *py, struct py_object *dict, const char *name)
{
	struct py_object *known = tare_scan_item(py, tare_scan_module(py, "sys"), "intern");
	struct py_object *function = tare_scan_item(py, dict, name);

	return known && function && tare_scan_type(function) == tare_scan_type(known) ? function : NULL;
}

struct py_object *tare_scan_call(const struct tare_scan_api *py, struct py_object *function, struct py_object *argument)
{
	struct py_object *result = function ? py->PyObject_CallFunctionObjArgs(function, argument, NULL) : NULL;

	if (function && !result)
		py->PyErr_Clear();
	return result;
}

void tare_scan_release(const struct tare_scan_api *py, struct py_object *object)
{
	if (object)
		py->Py_DecRef(object);
}

bool tare_scan_is_true(const struct tare_scan_api *py, struct py_object *answer)
{
	bool is = answer && py->PyObject_IsTrue(answer) > 0;

	tare_scan_release(py, answer);
	return is;
}
