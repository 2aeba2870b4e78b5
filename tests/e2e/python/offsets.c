/* SPDX-License-Identifier: Apache-2.0 */
/* The row of layout.def for the Python whose headers this is compiled with: prints what differs. */
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#if PY_MINOR_VERSION == 8
#include <internal/pycore_pystate.h>
#endif
#else
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#endif

#include <stddef.h>
#include <stdio.h>

#include "recorder/python/layout.c"

static void compare(const char *name, size_t here, size_t row)
{
	if (here != row)
		printf("%s: %zu here, %zu in layout.def\n", name, here, row);
}

int main(void)
{
	struct tare_python_layout l;

	if (tare_python_layout_of(PY_MINOR_VERSION, NULL, &l) != TARE_PYTHON_OK) {
		printf("no row\n");
		return 1;
	}
#if PY_VERSION_HEX < 0x030b0000
	compare("frame", offsetof(PyThreadState, frame), l.frame);
	compare("nested", NONE, l.nested);
	compare("back", offsetof(PyFrameObject, f_back), l.back);
	compare("code", offsetof(PyFrameObject, f_code), l.code);
	compare("at", offsetof(PyFrameObject, f_lasti), l.at);
	compare("owner", NONE, l.owner);
	compare("locals", offsetof(PyFrameObject, f_localsplus), l.locals);
	compare("instructions", NONE, l.instructions);
#else
	compare("frame", offsetof(PyThreadState, cframe), l.frame);
	compare("nested", offsetof(_PyCFrame, current_frame), l.nested);
	compare("back", offsetof(_PyInterpreterFrame, previous), l.back);
	compare("code", offsetof(_PyInterpreterFrame, f_code), l.code);
	compare("at", offsetof(_PyInterpreterFrame, prev_instr), l.at);
	compare("locals", offsetof(_PyInterpreterFrame, localsplus), l.locals);
	compare("instructions", offsetof(PyCodeObject, co_code_adaptive), l.instructions);
#endif
#if PY_MINOR_VERSION == 8
	compare("finishing", offsetof(_PyRuntimeState, ceval.pending.finishing), TARE_PYTHON_FINISHING);
#endif
#if PY_VERSION_HEX >= 0x030c0000
	compare("owner", offsetof(_PyInterpreterFrame, owner), l.owner);
	compare("version", offsetof(PyCodeObject, co_version), l.version);
	compare("first traceable", offsetof(PyCodeObject, _co_firsttraceable),
	        (size_t)(l.instructions - TARE_PYTHON_TRACEABLE));
#else
	compare("thread", offsetof(PyThreadState, thread_id), l.thread);
#endif
#if PY_VERSION_HEX >= 0x030a0000
	compare("table", offsetof(PyCodeObject, co_linetable), l.table);
#else
	compare("table", offsetof(PyCodeObject, co_lnotab), l.table);
#endif
	compare("file", offsetof(PyCodeObject, co_filename), l.file);
	compare("name", offsetof(PyCodeObject, co_name), l.name);
	compare("first", offsetof(PyCodeObject, co_firstlineno), l.first);
	compare("ascii", sizeof(PyASCIIObject), l.ascii);
	compare("type", offsetof(PyObject, ob_type), TARE_PYTHON_TYPE);
	compare("size of bytes", offsetof(PyVarObject, ob_size), TARE_PYTHON_SIZE);
	compare("bytes", offsetof(PyBytesObject, ob_sval), TARE_PYTHON_BYTES);
	compare("hash of bytes", offsetof(PyBytesObject, ob_shash), TARE_PYTHON_HASH);
	compare("hash of text", offsetof(PyASCIIObject, hash), TARE_PYTHON_HASH);
	compare("size of text", offsetof(PyASCIIObject, length), TARE_PYTHON_SIZE);
	compare("state of text", offsetof(PyASCIIObject, state), TARE_PYTHON_STATE);
	return 0;
}
