/* SPDX-License-Identifier: Apache-2.0 */
/* Which handles are executable graphs, and when one that was destroyed goes: not while a launch of it is under way. */
#include "sim_exec.h"

struct sim_exec *sim_exec_get(CUgraphExec handle)
{
	struct sim_exec *exec = sim_object_get(handle, SIM_EXEC);

	return exec && !exec->is_over ? exec : NULL;
}

void sim_exec_end(struct sim_object *object)
{
	struct sim_exec *exec = (struct sim_exec *)object;

	if (exec->graph)
		sim_graph_delete(exec->graph);
	sim_object_delete(exec);
}

void sim_exec_drop(struct sim_exec *exec)
{
	if (exec->is_over && !exec->running)
		sim_exec_end(&exec->object);
}
