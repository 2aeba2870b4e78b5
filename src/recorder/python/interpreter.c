/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the interpreter of the process, and checks that its frames can be read. */
#include "recorder/python/interpreter.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "recorder/base/fork.h"
#include "recorder/base/plib.h"
#include "recorder/base/scratch.h"
#include "recorder/elf/elfsym.h"
#include "recorder/elf/libc.h"
#include "recorder/log/degraded.h"
#include "recorder/python/code.h"
#include "recorder/python/memory.h"
#include "recorder/python/walk.h"
#include "recorder/recorder.h"

enum { CHECK_FRAMES = 32, LAST_COUNTED = 13 /* whose deaths of code objects are */ };

enum state { UNKNOWN, CHECKING, CHECKED, REFUSED };

static struct {
	uint64_t unloads; /* libraries that had gone when its object was last seen there */
	uint32_t state;
	struct tare_python python;
} the TARE_HOT_DATA __attribute__((aligned(64)));

/* What is only asked for while there is none, or one that was not checked. */
static struct {
	uint32_t generation; /* of tare_fork_now, when it was looked at */
	bool is_said;
	uint64_t searched; /* what was loaded when nothing was found, plus 1 */
	uintptr_t base;    /* of its object */
	bool is_to_stay;   /* it is never unloaded */
	char refusal[160];
} rest;

/* Only for the check. */
struct found {
	struct tare_elf_object object;
	const char *version; /* Py_GetVersion() */
	uintptr_t text_type, bytes_type;
	int (*line_of)(void *code, int at); /* PyCode_Addr2Line */
	void *(*current_frame)(void);       /* PyEval_GetFrame: may allocate, so only during an import */
	int (*line_of_frame)(void *frame);
	const void *runtime;
};

static void *symbol(const struct found *f, const char *name)
{
	return tare_elf_symbol(&f->object, name, NULL);
}

static bool is_interpreter(struct found *f)
{
	return symbol(f, "PyGILState_GetThisThreadState") && symbol(f, "Py_GetVersion");
}

/* The program itself (statically linked, the usual python3), or libpython, also an embedded one. */
static bool find_object(struct found *f)
{
	static const char *const prefixes[] = { "libpython3.", "libpypy3" };
	size_t i;

	if (tare_elf_object_at((const void *)tare_libc()->auxiliary(AT_ENTRY), &f->object) && is_interpreter(f))
		return true;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (tare_elf_find_object(prefixes[i], &f->object) && is_interpreter(f))
			return true;
	return false;
}

static bool find_functions(struct found *f, struct tare_python *p)
{
	p->own_state = (void *(*)(void))symbol(f, "PyGILState_GetThisThreadState");
	p->holder = (void *(*)(void))symbol(f, "_PyThreadState_UncheckedGet");
	if (!p->holder)
		p->holder = (void *(*)(void))symbol(f, "PyThreadState_GetUnchecked");
	p->first_interpreter = (void *(*)(void))symbol(f, "PyInterpreterState_Head");
	p->next_interpreter = (void *(*)(void *))symbol(f, "PyInterpreterState_Next");
	p->is_finalizing = (int (*)(void))symbol(f, "_Py_IsFinalizing");
	if (!p->is_finalizing)
		p->is_finalizing = (int (*)(void))symbol(f, "Py_IsFinalizing");
	p->finalizing = symbol(f, "_Py_Finalizing");
	tare_elf_function(&f->object, "_PyEval_EvalFrameDefault", &p->eval);
	p->code_type = (uintptr_t)symbol(f, "PyCode_Type");
	p->cell_type = (uintptr_t)symbol(f, "PyCell_Type");
	f->text_type = (uintptr_t)symbol(f, "PyUnicode_Type");
	f->bytes_type = (uintptr_t)symbol(f, "PyBytes_Type");
	f->line_of = (int (*)(void *, int))symbol(f, "PyCode_Addr2Line");
	f->current_frame = (void *(*)(void))symbol(f, "PyEval_GetFrame");
	f->line_of_frame = (int (*)(void *))symbol(f, "PyFrame_GetLineNumber");
	f->runtime = symbol(f, "_PyRuntime");
	p->runtime = (uintptr_t)f->runtime;
	return p->own_state && p->holder && p->first_interpreter && p->next_interpreter &&
	       (p->is_finalizing || p->finalizing) && p->code_type && f->text_type && f->bytes_type && f->line_of &&
	       f->current_frame && f->line_of_frame;
}

/* From here on there are no Python frames in this process, and the report says why. */
static uint32_t refuse(const struct found *f, const char *why)
{
	char version[32];
	size_t n = 0;

	while (f->version && f->version[n] > ' ' && n < sizeof(version) - 1) {
		version[n] = f->version[n];
		n++;
	}
	version[n] = '\0';
	tare_plib_format(rest.refusal, sizeof(rest.refusal), "Python %s: %s, so no event has a Python line", version, why);
	return REFUSED;
}

static const char *reason(enum tare_python_told told)
{
	switch (told) {
	case TARE_PYTHON_FREE_THREADED:
		return "frames of a free-threaded interpreter cannot be read safely";
	case TARE_PYTHON_BAD_OFFSETS:
		return "it does not say where its frames are";
	default:
		return "this Tare knows CPython 3.6 to 3.14";
	}
}

static bool is_type(uintptr_t object, uintptr_t type)
{
	uint64_t word;

	return tare_python_load(object + TARE_PYTHON_TYPE, &word, TARE_PYTHON_ASK) && word == type;
}

/* A frame is what we think it is: its parts have the right types, its line is what Python says it is. */
static bool is_frame_right(const struct found *f, const struct tare_python *p, const struct tare_python_frame *frame)
{
	struct tare_python_code code;
	unsigned int width;
	uintptr_t at;
	size_t bytes;
	int line;

	if (!tare_python_code_load(&p->layout, frame->code, &code, TARE_PYTHON_ASK) || !is_type(code.name, f->text_type) ||
	    !is_type(code.file, f->text_type) || !is_type(code.table, f->bytes_type) ||
	    !tare_python_characters(&p->layout, code.name, &at, &bytes, &width, TARE_PYTHON_ASK) ||
	    !tare_python_characters(&p->layout, code.file, &at, &bytes, &width, TARE_PYTHON_ASK))
		return false;
	line = f->line_of((void *)frame->code, frame->at);
	return tare_python_code_line(&p->layout, &code, frame->at, TARE_PYTHON_ASK) == (line > 0 ? line : 0);
}

/* Numbers are believed if the code objects of these frames have them, each its own. */
static bool have_versions(const struct tare_python *p, const struct tare_python_frame *frames, int n)
{
	int versions[CHECK_FRAMES], i, k, different = 0;

	uint64_t interpreter, id;

	if (p->layout.version == TARE_PYTHON_NONE)
		return false;
	if (p->layout.interpreter != TARE_PYTHON_NONE &&
	    (!tare_python_load((uintptr_t)p->own_state() + p->layout.interpreter, &interpreter, TARE_PYTHON_ASK) ||
	     !tare_python_load(interpreter + p->layout.interpreter_id, &id, TARE_PYTHON_ASK)))
		return false;
	for (i = 0; i < n; i++) {
		if (!tare_python_load_int(frames[i].code + p->layout.version, &versions[i], TARE_PYTHON_ASK) || !versions[i])
			return false;
		for (k = 0; k < i; k++) {
			if ((versions[k] == versions[i]) != (frames[k].code == frames[i].code))
				return false;
			different += versions[k] != versions[i];
		}
	}
	return different > 0;
}

/* The frames of this thread, each checked. With the GIL and outside of allocations Python is asked too. */
static uint32_t check_frames(const struct found *f, struct tare_python *p, struct tare_python_frame *frames,
                             bool during_import)
{
	uintptr_t state = (uintptr_t)p->own_state();
	int n, i;

	if (!frames || !state || (during_import && state != (uintptr_t)p->holder()))
		return UNKNOWN; /* not on this thread, or not yet */
	n = tare_python_walk(&p->layout, state, p->code_type, frames, CHECK_FRAMES, TARE_PYTHON_ASK);
	if (n == 0)
		return UNKNOWN;
	for (i = 0; i < n; i++)
		if (!is_frame_right(f, p, &frames[i]))
			return refuse(f, "its frames are not where this version has them");
	if (n < 0)
		return refuse(f, "its frames are not where this version has them");
	p->has_versions = have_versions(p, frames, n);
	if (during_import) {
		void *frame = f->current_frame();
		struct tare_python_code code;

		if (!frame || !tare_python_code_load(&p->layout, frames[0].code, &code, TARE_PYTHON_ASK) ||
		    f->line_of_frame(frame) != tare_python_code_line(&p->layout, &code, frames[0].at, TARE_PYTHON_ASK))
			return refuse(f, "it names another line than its frame has");
	}
	p->counts_deaths = p->layout.minor <= LAST_COUNTED && tare_python_deaths_start(p->code_type);
	return CHECKED;
}

/* "3.11.2 (main, …)" → 11; 0: not Python 3. */
static unsigned int minor_of(const char *version)
{
	return version && tare_plib_starts(version, "3.") ? (unsigned int)tare_plib_number(version + 2) : 0;
}

/* The program itself, or a library that it needs: neither is ever unloaded. */
static bool stays(const struct tare_elf_object *object)
{
	struct tare_elf_object program;

	return tare_elf_object_at((const void *)tare_libc()->auxiliary(AT_ENTRY), &program) &&
	       (program.base == object->base || tare_elf_needs(&program, tare_plib_basename(object->path)));
}

static uint32_t check(struct found *f, bool during_import)
{
	struct tare_python *p = &the.python;
	struct tare_python_frame *frames;
	enum tare_python_told told;
	uint32_t state;

	the.unloads = tare_objects_epoch().unloads;
	rest.base = f->object.base;
	rest.is_to_stay = stays(&f->object);
	f->version = ((const char *(*)(void))symbol(f, "Py_GetVersion"))();
	if (f->version && strstr(f->version, "PyPy"))
		return refuse(f, "PyPy keeps its frames elsewhere");
	if (f->version && strstr(f->version, "free-threading"))
		return refuse(f, reason(TARE_PYTHON_FREE_THREADED));
	if (!find_functions(f, p))
		return refuse(f, "it lacks functions that CPython has");
	told = tare_python_layout_of(minor_of(f->version), f->runtime, &p->layout);
	if (told != TARE_PYTHON_OK)
		return refuse(f, reason(told));
	frames = tare_scratch_take(CHECK_FRAMES * sizeof(*frames));
	state = check_frames(f, p, frames, during_import);
	tare_scratch_give(frames, CHECK_FRAMES * sizeof(*frames));
	return state;
}

/* In a forked child nobody is checking any more. */
static void notice_fork(void)
{
	uint32_t checking = CHECKING;

	if (likely(rest.generation == tare_fork_now.generation))
		return;
	rest.generation = tare_fork_now.generation;
	__atomic_compare_exchange_n(&the.state, &checking, UNKNOWN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	rest.is_said = false;
}

/* One thread does it; others have no Python frames meanwhile. */
static void check_once(uintptr_t caller)
{
	uint32_t state = UNKNOWN;
	struct found f;

	if (!__atomic_compare_exchange_n(&the.state, &state, CHECKING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	memset(&f, 0, sizeof(f));
	if (caller) {
		if (tare_elf_object_at((const void *)caller, &f.object) && is_interpreter(&f))
			state = check(&f, true);
	} else if (find_object(&f)) {
		state = check(&f, false);
	} else {
		rest.searched = tare_objects_epoch().changes + 1;
	}
	__atomic_store_n(&the.state, state, __ATOMIC_RELEASE);
}

void tare_python_imports(uintptr_t caller)
{
	notice_fork();
	if (tare_config.enabled && (tare_config.stacks & TARE_STACKS_PYTHON) &&
	    __atomic_load_n(&the.state, __ATOMIC_RELAXED) == UNKNOWN)
		check_once(caller);
}

static void say_refusal(void)
{
	if (__atomic_exchange_n(&rest.is_said, true, __ATOMIC_RELAXED))
		return;
	tare_degraded(rest.refusal, NULL);
}

/* Something was unloaded. If it was the interpreter, nothing of it may be called any more. */
static void check_still_there(uint64_t unloads)
{
	uint32_t state = __atomic_load_n(&the.state, __ATOMIC_ACQUIRE);
	struct tare_elf_object object;

	if (state == CHECKING)
		return;
	if (!the.python.own_state ||
	    (tare_elf_object_at((const void *)(uintptr_t)the.python.own_state, &object) && object.base == rest.base)) {
		__atomic_store_n(&the.unloads, unloads, __ATOMIC_RELAXED);
		return;
	}
	if (!__atomic_compare_exchange_n(&the.state, &state, CHECKING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	the.python.own_state = NULL;
	rest.searched = 0;
	__atomic_store_n(&the.unloads, unloads, __ATOMIC_RELAXED);
	__atomic_store_n(&the.state, UNKNOWN, __ATOMIC_RELEASE);
}

/* An interpreter that was found and could not be checked yet: on a thread without it there is nothing new. */
static bool is_worth_a_check(void)
{
	void *(*own_state)(void) = the.python.own_state;

	if (own_state)
		return own_state() != NULL;
	return rest.searched != tare_objects_epoch().changes + 1;
}

TARE_COLD static const struct tare_python *look(uint64_t unloads)
{
	notice_fork();
	if (__atomic_load_n(&the.unloads, __ATOMIC_RELAXED) != unloads)
		check_still_there(unloads);
	if (__atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == UNKNOWN && is_worth_a_check())
		check_once(0);
	if (__atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == REFUSED)
		say_refusal();
	return __atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == CHECKED ? &the.python : NULL;
}

TARE_HOT const struct tare_python *tare_python_interpreter(void)
{
	uint64_t unloads = tare_objects_epoch().unloads;

	if (likely(__atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == CHECKED &&
	           __atomic_load_n(&the.unloads, __ATOMIC_RELAXED) == unloads))
		return &the.python;
	return look(unloads);
}

TARE_HOT bool tare_python_is_to_stay(void)
{
	return __atomic_load_n(&the.state, __ATOMIC_ACQUIRE) == CHECKED && rest.is_to_stay;
}

/* As at the first recorded call, but only the program itself is asked for: that takes no lock. */
void tare_python_try_program(void)
{
	uint32_t state = UNKNOWN;
	struct found f;

	memset(&f, 0, sizeof(f));
	notice_fork();
	if (__atomic_load_n(&the.state, __ATOMIC_RELAXED) != UNKNOWN ||
	    !tare_elf_object_at((const void *)tare_libc()->auxiliary(AT_ENTRY), &f.object) || !is_interpreter(&f) ||
	    !((void *(*)(void))symbol(&f, "PyGILState_GetThisThreadState"))() ||
	    !__atomic_compare_exchange_n(&the.state, &state, CHECKING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&the.state, check(&f, false), __ATOMIC_RELEASE);
}

const struct tare_code *tare_python_eval(void)
{
	return &the.python.eval;
}

TARE_HOT bool tare_python_is_finalizing(void)
{
	const struct tare_python *p = &the.python;

	if (!tare_python_is_to_stay())
		return false;
	return p->is_finalizing ? p->is_finalizing() != 0 : *p->finalizing != NULL;
}
