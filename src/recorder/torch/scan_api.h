/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's functions that the scan calls: all in C, none of them runs bytecode here. */
#ifndef TARE_RECORDER_TORCH_SCAN_API_H
#define TARE_RECORDER_TORCH_SCAN_API_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/python/interpreter.h"

struct py_object;
typedef int py_visit_fn(struct py_object *object, void *arg);

#define TARE_SCAN_API_MAP(X)                                                                                           \
	X(int, Py_AddPendingCall, (int (*)(void *), void *))                                                               \
	X(struct py_object *, PyImport_GetModuleDict, (void))                                                              \
	X(struct py_object *, PyModule_GetDict, (struct py_object *))                                                      \
	X(struct py_object *, PyDict_GetItemString, (struct py_object *, const char *))                                    \
	X(int, PyDict_Next, (struct py_object *, intptr_t *, struct py_object **, struct py_object **))                    \
	X(struct py_object *, PyObject_GetAttrString, (struct py_object *, const char *))                                  \
	X(struct py_object *, PyObject_GenericGetDict, (struct py_object *, void *))                                       \
	X(struct py_object *, PyObject_CallFunctionObjArgs, (struct py_object *, ...))                                     \
	X(int, PyObject_IsTrue, (struct py_object *))                                                                      \
	X(int, PyType_IsSubtype, (struct py_object *, struct py_object *))                                                 \
	X(void *, PyType_GetSlot, (struct py_object *, int))                                                               \
	X(intptr_t, PyList_Size, (struct py_object *))                                                                     \
	X(struct py_object *, PyList_GetItem, (struct py_object *, intptr_t))                                              \
	X(intptr_t, PyTuple_Size, (struct py_object *))                                                                    \
	X(struct py_object *, PyTuple_GetItem, (struct py_object *, intptr_t))                                             \
	X(unsigned long long, PyLong_AsUnsignedLongLong, (struct py_object *))                                             \
	X(struct py_object *, PyLong_FromLong, (long))                                                                     \
	X(struct py_object *, PyErr_Occurred, (void))                                                                      \
	X(void, PyErr_Clear, (void))                                                                                       \
	X(void, Py_DecRef, (struct py_object *))

/* Only of some versions: NULL elsewhere. */
#define TARE_SCAN_API_MAYBE_MAP(X)                                                                                     \
	X(void, PyUnstable_GC_VisitObjects, (py_visit_fn *, void *)) /* from 3.12 */                                       \
	X(unsigned long, PyType_GetFlags, (struct py_object *))

struct tare_scan_api {
#define TARE_SCAN_API(result, name, params) result(*name) params;
	TARE_SCAN_API_MAP(TARE_SCAN_API)
	TARE_SCAN_API_MAYBE_MAP(TARE_SCAN_API)
#undef TARE_SCAN_API
	const struct tare_python *python;
};

/* Of the interpreter in this process, or NULL: there is none, or none that we can read. */
const struct tare_scan_api *tare_scan_api(void);

static inline struct py_object *tare_scan_type(const struct py_object *object)
{
	return *(struct py_object *const *)((const char *)object + TARE_PYTHON_TYPE);
}

/* scan_names.c. The names of a module that is there already (borrowed), or NULL. Nothing is imported. */
struct py_object *tare_scan_module(const struct tare_scan_api *py, const char *name);
/* What is called so (borrowed), or NULL. */
struct py_object *tare_scan_item(const struct tare_scan_api *py, struct py_object *dict, const char *name);
/* The same, if it is a function of C, not something that a program put there. */
struct py_object *tare_scan_builtin(const struct tare_scan_api *py, struct py_object *dict, const char *name);
/* Calls with one argument, or none (NULL). Returns NULL, and no exception, where that fails or there is no function. */
struct py_object *tare_scan_call(const struct tare_scan_api *py, struct py_object *function,
                                 struct py_object *argument);
bool tare_scan_is_true(const struct tare_scan_api *py, struct py_object *answer); /* and releases it */
void tare_scan_release(const struct tare_scan_api *py, struct py_object *object); /* or NULL */

/* pool_self_report.c: writes what PyTorch's allocator says of itself. Pre: the GIL is held, Python collects no garbage. */
void tare_pool_self_report(const struct tare_scan_api *py);

#endif
