/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux tells of the memory of a process at a moment, and the only list of it beside the HOST record (record.def): who reads it, keeps
 * it and hands it on makes fields and copies of this list. Bytes; TARE_NOT_KNOWN where it is not told.
 */
#ifndef TARE_RECORD_HOST_MEMORY_H
#define TARE_RECORD_HOST_MEMORY_H

#include "record/format.h"

/* X(field of the record, line of /proc/PID/status that tells it; "": none does) */
#define TARE_HOST_MEMORY(X)                                                                                            \
	X(pss, "") X(anon, "RssAnon") X(file, "RssFile") X(shmem, "RssShmem") X(swap, "VmSwap") X(tables, "VmPTE")

/* Fields of a struct, and places in an array. */
#define TARE_HOST_FIELD(FIELD, LINE) uint64_t FIELD;
#define TARE_HOST_PLACE(FIELD, LINE) TARE_HOST_##FIELD,
enum tare_host_place { TARE_HOST_MEMORY(TARE_HOST_PLACE) TARE_HOST_NR };

#endif
