/* SPDX-License-Identifier: Apache-2.0 */
/* Names in modules that are there already, and calls of functions in C. No exception gets out. */
#include <stddef.h>

#include "recorder/torch/probe_api.h"

struct py_object *tare_probe_item(const struct tare_probe_api *py, struct py_object *dict,
				  const char *name)
{
	return dict ? py->PyDict_GetItemString(dict, name) : NULL;
}

/* A program may have put anything under that name. */
struct py_object *tare_probe_module(const struct tare_probe_api *py, const char *name)
{
	struct py_object *module = tare_probe_item(py, py->PyImport_GetModuleDict(), name);
	struct py_object *dict = module ? py->PyModule_GetDict(module) : NULL;

	if (!dict)
		py->PyErr_Clear();
	return dict;
}

struct py_object *tare_probe_builtin(const struct tare_probe_api *py, struct py_object *dict,
				     const char *name)
{
	struct py_object *known = tare_probe_item(py, tare_probe_module(py, "sys"), "intern");
	struct py_object *function = tare_probe_item(py, dict, name);

	return known && function && tare_probe_type(function) == tare_probe_type(known) ? function
											: NULL;
}

struct py_object *tare_probe_call(const struct tare_probe_api *py, struct py_object *function,
				  struct py_object *argument)
{
	struct py_object *result =
		function ? py->PyObject_CallFunctionObjArgs(function, argument, NULL) : NULL;

	if (function && !result)
		py->PyErr_Clear();
	return result;
}

void tare_probe_release(const struct tare_probe_api *py, struct py_object *object)
{
	if (object)
		py->Py_DecRef(object);
}

bool tare_probe_is_true(const struct tare_probe_api *py, struct py_object *answer)
{
	bool is = answer && py->PyObject_IsTrue(answer) > 0;

	tare_probe_release(py, answer);
	return is;
}
