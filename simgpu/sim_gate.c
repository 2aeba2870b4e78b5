/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that every call of the simulated driver holds, and whether the driver is of use to this process at all. */
#include <pthread.h>
#include <unistd.h>

#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner; /* the process that uses the lock */

void sim_gate_begin(void)
{
	owner = getpid();
}

bool sim_is_forked(void)
{
	static bool is_child_of_user;

	if (getpid() == owner)
		return is_child_of_user;
	owner = getpid();
	pthread_mutex_init(&lock, NULL); /* another thread of the parent may have held it */
	is_child_of_user = sim.is_initialized;
	return is_child_of_user;
}

bool sim_look(void)
{
	if (sim_is_forked())
		return false;
	pthread_mutex_lock(&lock);
	if (sim.is_initialized)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sim_relock(void)
{
	pthread_mutex_lock(&lock);
}
