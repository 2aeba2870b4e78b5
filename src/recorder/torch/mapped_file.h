/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_RECORDER_TORCH_MAPPED_FILE_H
#define TARE_RECORDER_TORCH_MAPPED_FILE_H

/*
 * A tensor was put in shared memory, or in a mapped file: writes which file that is, so that it counts once, however
 * many processes map it. Before the record of the tensor; nothing where Linux does not tell, or not in the time left.
 */
void tare_mapped_file_record(const void *block);

#endif
