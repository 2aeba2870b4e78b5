/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank of a job this process is. What launchers say in the environment is copied at the start,
 * before the program can change it, and told once in every log; readers make a rank of it.
 */
#ifndef TARE_RECORDER_LOG_LAUNCH_H
#define TARE_RECORDER_LOG_LAUNCH_H

void tare_launch_start(char **envp);
void tare_launch_opened(void);

#endif
