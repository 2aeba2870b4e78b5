# SPDX-License-Identifier: Apache-2.0
"""A transformer with what real training has: checkpointing, autocast with a gradient scaler, workers that
load batches, torch.compile, a CUDA graph, an out-of-memory error that is caught. Each is a phase. Says what
torch counts at the end of each, as torch_marks.py does, and the peak last."""
import json

import torch
from torch.utils.checkpoint import checkpoint

from torch_marks import mark

WIDTH, LENGTH, BATCH = 512, 128, 16


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return BATCH * 4

    def __getitem__(self, index):
        return torch.randn(LENGTH, WIDTH)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, batch_first=True) for _ in range(6))

    def forward(self, x, is_checkpointed=False):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if is_checkpointed else layer(x)
        return x


def train(net, optimizer, scaler, x, is_checkpointed):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(x, is_checkpointed).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def capture(net, x):
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            net(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = net(x)
        graph.replay()
    return graph, out


def main():
    net = Net().cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda")
    loader = torch.utils.data.DataLoader(Batches(), BATCH, num_workers=2, pin_memory=True)
    for is_checkpointed in (False, True):
        with mark("checkpointed" if is_checkpointed else "plain"):
            for x in loader:
                train(net, optimizer, scaler, x.cuda(non_blocking=True), is_checkpointed)
    with mark("evaluated"):
        net.eval()
        x = torch.randn(BATCH, LENGTH, WIDTH, device="cuda")
        with torch.no_grad():
            net(x)
    with mark("compiled"):
        layer = torch.compile(torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()).cuda())
        for _ in range(2):
            layer(x).sum().backward()
    with mark("captured"):
        kept = capture(net, x)
    with mark("out of memory"):
        try:
            torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError as error:
            print(json.dumps({"caught": type(error).__name__}), flush=True)
    del kept
    torch.cuda.synchronize()
    print(json.dumps({"peak": torch.cuda.max_memory_allocated()}), flush=True)


if __name__ == "__main__":
    main()
