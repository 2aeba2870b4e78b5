/* SPDX-License-Identifier: Apache-2.0 */
/* Writes down what a program asked for that is not simulated, with its line in Python. */
#include "sim_tell.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024, PLACE = 300, SAID = 256, FRAMES = 64 };

/* Python by its documented C interface, as far as the process has it. */
struct python {
	int (*is_initialized)(void);
	int (*has_lock)(void);
	void *(*frame)(void);  /* borrowed */
	void *(*back)(void *); /* a new reference, as all below */
	void *(*code)(void *);
	void *(*attribute)(void *, const char *);
	int (*line)(void *);
	const char *(*text)(void *);
	void *(*error)(void);
	void (*give)(void *);
};

static bool find_python(struct python *p)
{
#define FIND(member, name)                                                                                             \
	*(void **)&p->member = dlsym(RTLD_DEFAULT, name);                                                                  \
	if (!p->member)                                                                                                    \
		return false;
	FIND(is_initialized, "Py_IsInitialized")
	FIND(has_lock, "PyGILState_Check")
	FIND(frame, "PyEval_GetFrame")
	FIND(back, "PyFrame_GetBack")
	FIND(code, "PyFrame_GetCode")
	FIND(attribute, "PyObject_GetAttrString")
	FIND(line, "PyFrame_GetLineNumber")
	FIND(text, "PyUnicode_AsUTF8")
	FIND(error, "PyErr_Occurred")
	FIND(give, "Py_DecRef")
#undef FIND
	return true;
}

/* PyGILState_Check says yes in a program with several interpreters, whatever is true. */
static bool is_thread_of_python(void)
{
	void *(*of_thread)(void);
	void *(*running)(void);

	*(void **)&of_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	*(void **)&running = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
	if (!running)
		*(void **)&running = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
	return of_thread && running && running() && of_thread() == running();
}

/* What is installed, and not the user's. */
static bool is_package(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") || strstr(file, "/lib/python") ||
	       file[0] == '<';
}

/* Writes FILE:LINE of a frame; true: it is of the user's own code. */
static bool write_frame(const struct python *p, void *frame, char *out, bool is_first)
{
	void *code = p->code(frame), *name = code ? p->attribute(code, "co_filename") : NULL;
	const char *file = name ? p->text(name) : NULL;
	bool is_own = file && !is_package(file);

	if (file && file[0] != '<' && (is_own || is_first))
		snprintf(out, PLACE, "%s:%d", file, p->line(frame));
	if (name)
		p->give(name);
	if (code)
		p->give(code);
	return is_own;
}

/* The line of a Python program that this thread runs: the innermost of the user's own, else the innermost. */
static void find_place(char *out)
{
	struct python p = { 0 };
	void *frame, *next;
	int i;

	out[0] = '\0';
	if (!find_python(&p) || !p.is_initialized() || !is_thread_of_python() || !p.has_lock() || p.error())
		return;
	frame = p.frame();
	for (i = 0; frame && i < FRAMES; i++) {
		bool is_own = write_frame(&p, frame, out, !out[0]);

		next = is_own ? NULL : p.back(frame);
		if (i > 0)
			p.give(frame);
		frame = next;
	}
	if (frame && i > 0)
		p.give(frame);
}

static bool is_said_first(const char *text)
{
	static uint64_t said[SAID];
	uint64_t hash = 0xcbf29ce484222325u;
	int i;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	hash |= 1;
	for (i = 0; i < SAID; i++) {
		uint64_t none = 0;

		if (__atomic_load_n(&said[i], __ATOMIC_ACQUIRE) == hash)
			return false;
		if (__atomic_compare_exchange_n(&said[i], &none, hash, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
		if (none == hash)
			return false;
	}
	return false;
}

const char *sim_tell_file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fname : NULL;
}

void sim_tell(const char *kind, const char *name, const char *file)
{
	const char *path = getenv("TARE_SIM_WANTED");
	char line[LINE], place[PLACE];
	int fd, length;
	ssize_t written;

	if (!path || !*path)
		return;
	length = snprintf(line, sizeof(line), "%s\t%s\t%s", kind, name ? name : "", file ? file : "");
	if (length < 0 || length >= LINE - PLACE - 2 || strchr(line, '\n') || !is_said_first(line))
		return;
	find_place(place);
	length += snprintf(line + length, sizeof(line) - (size_t)length, "\t%s\n", place);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return;
	written = write(fd, line, (size_t)length);
	(void)written; /* what cannot be written is not told */
	close(fd);
}
