/* SPDX-License-Identifier: Apache-2.0 */
/* The types and families of NVSHMEM's table (row.h has the rows), and what its files tell each other. */
#ifndef TARE_SIM_NVSHMEM_H
#define TARE_SIM_NVSHMEM_H

#include "simgpu/libs/lib.h"

/* clang-format off */
#define BITWISE(row, ...)                                                                          \
	row(int8, __VA_ARGS__) row(int16, __VA_ARGS__) row(int32, __VA_ARGS__) row(int64, __VA_ARGS__) \
	row(uint8, __VA_ARGS__) row(uint16, __VA_ARGS__) row(uint32, __VA_ARGS__) row(uint64, __VA_ARGS__) \
	row(uchar, __VA_ARGS__) row(ushort, __VA_ARGS__) row(uint, __VA_ARGS__) row(ulong, __VA_ARGS__) \
	row(ulonglong, __VA_ARGS__) row(size, __VA_ARGS__)
#define ARITHMETIC(row, ...)                                                                       \
	BITWISE(row, __VA_ARGS__)                                                                  \
	row(char, __VA_ARGS__) row(schar, __VA_ARGS__) row(short, __VA_ARGS__) row(int, __VA_ARGS__) \
	row(long, __VA_ARGS__) row(longlong, __VA_ARGS__) row(half, __VA_ARGS__) row(bfloat16, __VA_ARGS__) \
	row(float, __VA_ARGS__) row(double, __VA_ARGS__)
#define ALL_TYPES(row, ...) ARITHMETIC(row, __VA_ARGS__) row(ptrdiff, __VA_ARGS__)
/* Types that another processor's memory may be changed as, atomically. */
#define ATOMIC_BITWISE(row, ...)                                                                   \
	row(int32, __VA_ARGS__) row(int64, __VA_ARGS__) row(uint, __VA_ARGS__) row(uint32, __VA_ARGS__) \
	row(uint64, __VA_ARGS__) row(ulong, __VA_ARGS__) row(ulonglong, __VA_ARGS__)
#define ATOMIC(row, ...)                                                                           \
	ATOMIC_BITWISE(row, __VA_ARGS__)                                                           \
	row(int, __VA_ARGS__) row(long, __VA_ARGS__) row(longlong, __VA_ARGS__) row(size, __VA_ARGS__) \
	row(ptrdiff, __VA_ARGS__)
#define WAITED_FOR(row, ...) ATOMIC(row, __VA_ARGS__) row(short, __VA_ARGS__) row(ushort, __VA_ARGS__)
#define WIDTHS(row, ...)                                                                           \
	row(8, __VA_ARGS__) row(16, __VA_ARGS__) row(32, __VA_ARGS__) row(64, __VA_ARGS__) row(128, __VA_ARGS__)
/* clang-format on */

/* A function of a type, without a stream and with one, which is argument `at`. */
#define DONE(type, name)          NOTHING(nvshmem_##type##_##name)
#define QUEUED(type, name, at)    NODE_ON(nvshmemx_##type##_##name##_on_stream, at)
#define BOTH_WAYS(type, name, at) DONE(type, name) QUEUED(type, name, at)
/* … of a width: its name begins with what it does. */
#define WIDE(width, name, end)            NOTHING(nvshmem_##name##width##end)
#define WIDE_QUEUED(width, name, end, at) NODE_ON(nvshmemx_##name##width##end##_on_stream, at)

#endif
