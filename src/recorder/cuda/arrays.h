/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes an array's elements have; what the driver takes for it is its own affair. */
#ifndef TARE_RECORDER_CUDA_ARRAYS_H
#define TARE_RECORDER_CUDA_ARRAYS_H

#include <stdint.h>

#include "recorder/base/peek.h"
#include "record/cuda_abi.h"

static inline uint64_t tare_array_element_bytes(int format, unsigned int channels)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2ull * channels;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4ull * channels;
	}
	return 0; /* block formats: not known */
}

static inline uint64_t tare_array_bytes(const CUDA_ARRAY_DESCRIPTOR *theirs)
{
	CUDA_ARRAY_DESCRIPTOR d;

	if (!tare_peek(&d, theirs, sizeof(d)))
		return 0;
	return d.Width * (d.Height ? d.Height : 1) * tare_array_element_bytes(d.Format, d.NumChannels);
}

/* More levels than a size can be halved are one element each. */
static inline uint64_t tare_array3d_bytes(const CUDA_ARRAY3D_DESCRIPTOR *theirs, unsigned int levels)
{
	CUDA_ARRAY3D_DESCRIPTOR d;
	uint64_t element, sum;
	size_t w, h, z;

	if (!tare_peek(&d, theirs, sizeof(d)))
		return 0;
	element = tare_array_element_bytes(d.Format, d.NumChannels);
	sum = levels > 64 ? (levels - 64) * element : 0;
	w = d.Width, h = d.Height ? d.Height : 1, z = d.Depth ? d.Depth : 1;
	for (levels = levels > 64 ? 64 : levels; levels > 0; levels--) {
		sum += w * h * z * element;
		w = w > 1 ? w / 2 : 1;
		h = h > 1 ? h / 2 : 1;
		z = z > 1 ? z / 2 : 1;
	}
	return sum;
}

#endif
