# SPDX-License-Identifier: Apache-2.0
"""Trains a transformer or a ResNet and says after each pass and step what is there: the oracle of t_models.py.

    models.py MODEL-OPTIMIZER TRUTH    transformer or resnet; sgd, momentum, adam or adagrad
"""
import torch
import torch.nn.functional as F

import categories

BATCH, STEPS, LENGTH, WORDS, WIDTH = 4, 4, 24, 500, 64


class Transformer(torch.nn.Module):
    """A decoder of words, whose head is the table of words; where a word stands is learned, what it may see is a buffer."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.places = torch.nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), 1))
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.1, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2)
        self.head = torch.nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.layers(self.words(x) + self.places, self.mask)).flatten(0, 1)

    @staticmethod
    def batch():
        return torch.randint(0, WORDS, (BATCH, LENGTH)), torch.randint(0, WORDS, (BATCH * LENGTH,))


class Block(torch.nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.norm1 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = torch.nn.BatchNorm2d(width)
        self.short = torch.nn.Identity() if before == width and stride == 1 else torch.nn.Sequential(
            torch.nn.Conv2d(before, width, 1, stride, bias=False), torch.nn.BatchNorm2d(width))

    def forward(self, x):
        inner = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(inner)) + self.short(x))


class ResNet(torch.nn.Module):
    """As ResNet-18, with narrower layers."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 7, 2, padding=3, bias=False), torch.nn.BatchNorm2d(16),
                                        torch.nn.ReLU(inplace=True), torch.nn.MaxPool2d(3, 2, padding=1))
        widths = (16, 16, 32, 64, 128)
        self.stages = torch.nn.Sequential(*[Block(widths[i - (k == 0)], widths[i], 2 if k == 0 and i > 1 else 1)
                                            for i in range(1, 5) for k in range(2)])
        self.head = torch.nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))

    @staticmethod
    def batch():
        return torch.randn(BATCH, 3, 64, 64), torch.randint(0, 10, (BATCH,))


def main():
    model, name = categories.WHAT.split("-")
    net = {"transformer": Transformer, "resnet": ResNet}[model]()
    optimizer = {"sgd": lambda p: torch.optim.SGD(p, lr=0.01),
                 "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
                 "adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad}[name](net.parameters())
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        x, y = net.batch()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        categories.note("backward %d" % step, net, optimizer, [], [x, y], [loss])
        optimizer.step()
        categories.note("step %d" % step, net, optimizer, [], [x, y], [loss])


main()
