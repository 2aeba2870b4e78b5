# SPDX-License-Identifier: Apache-2.0
import os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax, jax.numpy as jnp

x = jnp.ones((2048, 2048))
print(float(jax.jit(lambda a: (a @ a).sum())(x)))
