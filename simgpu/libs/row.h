/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a simulated library: a function each, and what it does. A library's table (cublas.def …) has one
 * row for every function that programs may ask for; its C file has bodies for those that behave.
 *
 * All parameters that are whole numbers or pointers are counted from 0 and are one machine word each; floating
 * numbers travel in registers of their own and are not counted, so a row fits whatever stands between.
 *
 *   NOTHING(name)                  does nothing, successfully
 *   MAKES(name, at)                makes a handle, and writes it where argument `at` points
 *   ENDS(name, at)                 ends the handle that argument `at` is
 *   STREAM(name)                   the handle in argument 0 works on the stream in argument 1 from now on
 *   TELLS_STREAM(name)             writes that stream where argument 1 points
 *   KEEPS(name, slot)              keeps argument 1 in the handle …
 *   TELLS(name, slot, type)        … and writes it where argument 1 points: type INT or SIZE
 *   ANSWERS(name, at, type, value) writes a value (a size, mostly) where argument `at` points, unless that is NULL
 *   NODE(name, at)                 work on the stream of the handle in argument `at`: a node where that is captured
 *   NODE_ON(name, at)              work on the stream that argument `at` is
 *   NODE_TELLS(name, at, result, type, value)  NODE, and ANSWERS where argument `result` points
 *   SETTING(prefix, Name, suffix, slot, type)  KEEPS prefixSetName and TELLS prefixGetName
 *   REFUSES(name, result)          fails with this result
 *   TEXT(name, text)               returns a text
 *   NUMBER(name, value)            returns a number
 *
 * A row with _SDCZ, _SD or _CZ is one for each of these types: the letter stands between prefix and name.
 */
#include "simgpu/libs/lib.h"

#define SIM_WORDS                                                                                                      \
	long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, long a11,      \
		long a12, long a13, long a14, long a15, long a16, long a17, long a18, long a19, long a20, long a21, long a22,  \
		long a23
#define SIM_UNUSED                                                                                                     \
	(void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9, (void)a10,     \
		(void)a11, (void)a12, (void)a13, (void)a14, (void)a15, (void)a16, (void)a17, (void)a18, (void)a19, (void)a20,  \
		(void)a21, (void)a22, (void)a23

/* How the library says that it has no memory, and that an argument is wrong: its table may say so before. */
#ifndef SIM_NO_MEMORY
#define SIM_NO_MEMORY 3
#endif
#ifndef SIM_BAD_ARGUMENT
#define SIM_BAD_ARGUMENT 7
#endif

/* … that there is no handle. */
#ifndef SIM_BAD_HANDLE
#define SIM_BAD_HANDLE SIM_BAD_ARGUMENT
#endif

#define SIM_INT  int
#define SIM_SIZE size_t

/* A function whose result is the value of an expression … */
#define SIM_RESULT(name, kind, value)                                                                                  \
	SIM_EXPORT long name(SIM_WORDS);                                                                                   \
	long name(SIM_WORDS)                                                                                               \
	{                                                                                                                  \
		SIM_UNUSED;                                                                                                    \
		SIM_CALLED(kind);                                                                                              \
		return (long)(value);                                                                                          \
	}
/* … and one that does something, and succeeds unless that returns. */
#define SIM_ROW(name, kind, body)                                                                                      \
	SIM_EXPORT long name(SIM_WORDS);                                                                                   \
	long name(SIM_WORDS)                                                                                               \
	{                                                                                                                  \
		SIM_UNUSED;                                                                                                    \
		SIM_CALLED(kind);                                                                                              \
		body;                                                                                                          \
		return 0;                                                                                                      \
	}

#define NOTHING(name) SIM_ROW(name, "nothing", )
#define MAKES(name, at)                                                                                                \
	SIM_ROW(name, "makes", {                                                                                           \
		if (!a##at)                                                                                                    \
			return SIM_BAD_ARGUMENT;                                                                                   \
		if (!(*(struct sim_handle **)a##at = sim_handle_new()))                                                        \
			return SIM_NO_MEMORY;                                                                                      \
	})
#define ENDS(name, at) SIM_ROW(name, "ends", sim_handle_end((struct sim_handle *)a##at))
#define STREAM(name)                                                                                                   \
	SIM_ROW(name, "stream", {                                                                                          \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		((struct sim_handle *)a0)->stream = a1;                                                                        \
	})
#define TELLS_STREAM(name)                                                                                             \
	SIM_ROW(name, "stream", {                                                                                          \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a1)                                                                                                       \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(long *)a1 = ((struct sim_handle *)a0)->stream;                                                               \
	})
#define KEEPS(name, slot)                                                                                              \
	SIM_ROW(name, "keeps", {                                                                                           \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		((struct sim_handle *)a0)->kept[slot] = (uint64_t)a1;                                                          \
	})
#define TELLS(name, slot, type)                                                                                        \
	SIM_ROW(name, "tells", {                                                                                           \
		if (!a0)                                                                                                       \
			return SIM_BAD_HANDLE;                                                                                     \
		if (!a1)                                                                                                       \
			return SIM_BAD_ARGUMENT;                                                                                   \
		*(SIM_##type *)a1 = (SIM_##type)((struct sim_handle *)a0)->kept[slot];                                         \
	})
#define ANSWERS(name, at, type, value)                                                                                 \
	SIM_ROW(name, "answers", {                                                                                         \
		if (a##at)                                                                                                     \
			*(SIM_##type *)a##at = (value);                                                                            \
	})
#define NODE(name, at)                                                                                                 \
	SIM_ROW(name, "node", {                                                                                            \
		if (!a##at)                                                                                                    \
			return SIM_BAD_HANDLE;                                                                                     \
		sim_lib_node(((struct sim_handle *)a##at)->stream);                                                            \
	})
#define NODE_ON(name, at)     SIM_ROW(name, "node", sim_lib_node(a##at))
#define REFUSES(name, result) SIM_RESULT(name, "refuses", result)
#define TEXT(name, text)      SIM_RESULT(name, "text", text)
#define NUMBER(name, value)   SIM_RESULT(name, "number", value)

#define NODE_TELLS(name, at, result, type, value)                                                                      \
	SIM_ROW(name, "node", {                                                                                            \
		if (!a##at)                                                                                                    \
			return SIM_BAD_HANDLE;                                                                                     \
		if (a##result)                                                                                                 \
			*(SIM_##type *)a##result = (value);                                                                        \
		sim_lib_node(((struct sim_handle *)a##at)->stream);                                                            \
	})
#define SETTING(prefix, Name, suffix, slot, type)                                                                      \
	KEEPS(prefix##Set##Name##suffix, slot) TELLS(prefix##Get##Name##suffix, slot, type)

#define NOTHING_SDCZ(prefix, name)                                                                                     \
	NOTHING(prefix##S##name)                                                                                           \
	NOTHING(prefix##D##name) NOTHING(prefix##C##name) NOTHING(prefix##Z##name)
#define NODE_SD(prefix, name, at)   NODE(prefix##S##name, at) NODE(prefix##D##name, at)
#define NODE_CZ(prefix, name, at)   NODE(prefix##C##name, at) NODE(prefix##Z##name, at)
#define NODE_SDCZ(prefix, name, at) NODE_SD(prefix, name, at) NODE_CZ(prefix, name, at)
#define NODE_TELLS_SD(prefix, name, at, result, type, value)                                                           \
	NODE_TELLS(prefix##S##name, at, result, type, value)                                                               \
	NODE_TELLS(prefix##D##name, at, result, type, value)
#define NODE_TELLS_CZ(prefix, name, at, result, type, value)                                                           \
	NODE_TELLS(prefix##C##name, at, result, type, value)                                                               \
	NODE_TELLS(prefix##Z##name, at, result, type, value)
#define NODE_TELLS_SDCZ(prefix, name, at, result, type, value)                                                         \
	NODE_TELLS_SD(prefix, name, at, result, type, value)                                                               \
	NODE_TELLS_CZ(prefix, name, at, result, type, value)
#define ANSWERS_SD(prefix, name, at, type, value)                                                                      \
	ANSWERS(prefix##S##name, at, type, value) ANSWERS(prefix##D##name, at, type, value)
#define ANSWERS_CZ(prefix, name, at, type, value)                                                                      \
	ANSWERS(prefix##C##name, at, type, value) ANSWERS(prefix##Z##name, at, type, value)
#define ANSWERS_SDCZ(prefix, name, at, type, value)                                                                    \
	ANSWERS_SD(prefix, name, at, type, value) ANSWERS_CZ(prefix, name, at, type, value)
