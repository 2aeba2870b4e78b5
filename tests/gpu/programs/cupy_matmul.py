# SPDX-License-Identifier: Apache-2.0
import cupy

a = cupy.random.rand(2048, 2048)
print(float((a @ a).sum()))
