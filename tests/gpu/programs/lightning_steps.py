# SPDX-License-Identifier: Apache-2.0
"""A few steps of Lightning's Trainer on one card: lightning_steps.py [trainer | mpi | torch]

mpi: only what the Trainer does first that touches the card (it looks whether it runs under MPI), then a tensor. torch: only the tensor.
"""

import sys


def trainer():
    import torch
    try:
        import pytorch_lightning as lightning
    except ImportError:
        import lightning

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(512, 512)

        def training_step(self, batch, index):
            return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = torch.utils.data.TensorDataset(torch.randn(64, 512), torch.randn(64, 512))
    lightning.Trainer(max_epochs=1, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False,
                      enable_progress_bar=False, enable_model_summary=False).fit(
        Model(), torch.utils.data.DataLoader(data, batch_size=8))


def mpi():
    from mpi4py import MPI
    print(MPI.Get_library_version().splitlines()[0])


def tensor():
    import torch
    print(torch.ones(1000, device="cuda").sum().item())


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "trainer"
    if what == "trainer":
        return trainer()
    if what == "mpi":
        mpi()
    return tensor()


main()
