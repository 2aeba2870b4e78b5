/* SPDX-License-Identifier: Apache-2.0 */
/* What the copies of this code in one process (libcuda, libnvidia-ml) have in common. */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The descriptor of this process that is open on a file: `target` is how /proc/self/fd shows it.
 * -1: none.
 */
int sim_process_find_fd(const char *target);

/* A new memfd that sim_process_find_fd() finds as "/memfd:simgpu-PURPOSE-PID (deleted)". */
int sim_process_memfd(const char *purpose);
/* As above with a name that no other has; and what identifies its file in any process. 0: unknown. */
int sim_process_memfd_unique(void);
uint64_t sim_process_file_id(int fd);
/* Made by one of the two above, in this process or in another. */
bool sim_process_is_memory(int fd);

/* The same file under a number that programs do not use for their own; `fd` is closed. */
int sim_process_high_fd(int fd);

/* Differs between a program and the one it execs, which has the same pid. */
uint64_t sim_process_cookie(void);

/* Its resident anonymous memory; 0 where nobody says. */
uint64_t sim_process_anonymous(uint32_t pid);

#endif
