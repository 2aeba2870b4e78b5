/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every simulated library has in it: the simulated driver below it, handles, memory that a library takes
 * for itself, and nodes of a graph that is being captured. The libraries know the driver by its public names
 * alone, as programs do, so the recorder sees what they ask of it.
 */
#ifndef TARE_SIM_LIB_H
#define TARE_SIM_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of the driver; NULL: there is no driver, or it has no such function. */
void *sim_lib_driver(const char *name);

typedef int (*sim_call)(long, long, long, long, long, long, long, long, long, long, long, long);
/* The driver's function, looked up once in each place. */
#define SIM_FUNCTION(name)                                                                                             \
	({                                                                                                                 \
		static void *function_;                                                                                        \
		if (!__atomic_load_n(&function_, __ATOMIC_ACQUIRE))                                                            \
			__atomic_store_n(&function_, sim_lib_driver(name), __ATOMIC_RELEASE);                                      \
		function_;                                                                                                     \
	})
/* Calls NAME of the driver; 500 (CUDA_ERROR_NOT_FOUND) where it has no such function. */
#define SIM_DRIVER(name, ...) sim_lib_call(SIM_FUNCTION(name), SIM_TWELVE(__VA_ARGS__))
#define SIM_TWELVE(...)       SIM_TWELVE_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define SIM_TWELVE_(a, b, c, d, e, f, g, h, i, j, k, l, ...)                                                           \
	(long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f), (long)(g), (long)(h), (long)(i), (long)(j),      \
		(long)(k), (long)(l)

static inline int sim_lib_call(void *function, long a, long b, long c, long d, long e, long f, long g, long h, long i,
                               long j, long k, long l)
{
	return function ? ((sim_call)function)(a, b, c, d, e, f, g, h, i, j, k, l) : 500;
}

/* What a library's Create function makes. */
struct sim_handle {
	long stream;
	uint64_t kept[20]; /* settings that can be asked for again: rows KEEPS and TELLS */
	uint64_t taken[8]; /* addresses of device memory; 0: none */
	void *more;        /* of the library that made the handle */
};

struct sim_handle *sim_handle_new(void);
void sim_handle_end(struct sim_handle *handle);
/* Device memory that lives as long as the handle. False: there is no room. */
bool sim_handle_take(struct sim_handle *handle, size_t bytes);

/*
 * Work of a library on a stream: a kernel, so a node where the stream is captured. The first loads the library's code:
 * sim_lib_code bytes, which a library may define.
 */
void sim_lib_node(long stream);
extern const size_t sim_lib_code;
/* Code that a library loads besides, on the current device. */
void sim_lib_load(size_t bytes);

/* The first call of a function of a simulated library, for TARE_SIM_CALLS=FILE. `kind`: what its row says. */
void sim_lib_called(const char *name, const char *kind);
void sim_lib_write(int fd, const char *line, size_t length);
#define SIM_CALLED(kind)                                                                                               \
	do {                                                                                                               \
		static bool called_;                                                                                           \
		if (!called_) {                                                                                                \
			called_ = true;                                                                                            \
			sim_lib_called(__func__, kind);                                                                            \
		}                                                                                                              \
	} while (0)

/* A function that programs see: all else is hidden. */
#define SIM_EXPORT __attribute__((visibility("default")))

#endif
