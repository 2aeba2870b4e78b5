#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The convolutions of usual models, as keys that tests/gpu/conv_answers.c has a card answer.

    tools/conv-shapes.py [--limit 60000] [--batches 1,2,…] >keys

Models of torchvision are walked on PyTorch's meta device, so torch and torchvision must be there, and no GPU; a U-Net and
those of diffusers (UNet2D, AutoencoderKL) are described below. Each convolution of a model gives the keys of its three
directions, for each batch, type (float, half, bfloat16) and layout (NCHW, NHWC); what PyTorch does not hand to cuDNN is left
out. A key is written as PyTorch asks: strides of dimensions of size 1 as its fixSizeOneDimStride makes them.

If there are more keys than the limit, those stay that most programs are likely to ask: each model, image size, batch, type
and layout has a rank (0 is most usual), and a key the sum of its ranks."""

import argparse
import hashlib
import sys
import typing

BATCHES = {1: 1, 2: 2, 4: 2, 8: 1, 16: 1, 32: 0, 64: 0, 128: 1}
# (type of cuDNN, NHWC): rank
KINDS = {(0, False): 0, (2, False): 1, (9, False): 1, (2, True): 1, (9, True): 1, (0, True): 2}
DIRECTIONS = ("fwd", "bwd_data", "bwd_filter")

# Families of torchvision: their models by rank, and image sizes by rank.
USUAL = {224: 0, 256: 1, 32: 2, 64: 2, 128: 2, 160: 3, 192: 3, 288: 3, 320: 3, 384: 2, 448: 3, 512: 2}
TORCHVISION = [
    (0, "resnet18 resnet34 resnet50", {**USUAL, 32: 1, 64: 1, 128: 1, 512: 1}),
    (1, "resnet101 resnet152 wide_resnet50_2 wide_resnet101_2 resnext50_32x4d resnext101_32x8d resnext101_64x4d", USUAL),
    (0, "vgg16", USUAL), (1, "vgg11 vgg13 vgg19 vgg16_bn vgg11_bn vgg19_bn alexnet squeezenet1_0 squeezenet1_1", USUAL),
    (0, "densenet121", USUAL), (1, "densenet161 densenet169 densenet201", USUAL),
    (0, "mobilenet_v2 mobilenet_v3_small mobilenet_v3_large", USUAL),
    (1, "mnasnet0_5 mnasnet1_0 mnasnet1_3 shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x2_0 googlenet", USUAL),
    (1, "inception_v3", {299: 0}),
    (0, "efficientnet_b0", USUAL), (1, "efficientnet_b1", {240: 0, 224: 1}), (1, "efficientnet_b2", {260: 0, 288: 1}),
    (1, "efficientnet_b3", {300: 0}), (1, "efficientnet_b4", {380: 0}), (2, "efficientnet_b5", {456: 0}),
    (2, "efficientnet_b6", {528: 0}), (2, "efficientnet_b7", {600: 0}),
    (1, "efficientnet_v2_s", {300: 0, 384: 0, 224: 1}), (2, "efficientnet_v2_m efficientnet_v2_l", {384: 0, 480: 0}),
    (1, "regnet_y_400mf regnet_y_1_6gf regnet_x_400mf regnet_x_1_6gf regnet_y_3_2gf", USUAL),
    (2, "regnet_y_800mf regnet_y_8gf regnet_y_16gf regnet_y_32gf regnet_x_800mf regnet_x_3_2gf regnet_x_8gf "
        "regnet_x_16gf regnet_x_32gf", USUAL),
    (0, "convnext_tiny", USUAL), (1, "convnext_small convnext_base convnext_large", USUAL),
    (0, "vit_b_16", {224: 0}), (1, "vit_b_32 vit_l_16 vit_l_32 swin_t swin_s swin_b maxvit_t", {224: 0}),
    (1, "fcn_resnet50 deeplabv3_resnet50 lraspp_mobilenet_v3_large", {512: 0, 520: 1, 256: 1}),
    (2, "fcn_resnet101 deeplabv3_resnet101 deeplabv3_mobilenet_v3_large", {512: 0, 520: 1}),
]


class Conv(typing.NamedTuple):
    """A convolution of a model but for its batch: x [C, H, W] and y [K, P, Q] of the one that is not transposed."""
    x: tuple
    y: tuple
    kernel: tuple
    stride: tuple
    pad: tuple
    dilation: tuple
    groups: int
    from_image: bool

    def is_depthwise(self):
        return self.groups > 1 and self.groups == self.x[0]

    def is_asked(self, kind, direction):
        """Does PyTorch ask cuDNN? Depthwise ones in NCHW have kernels of PyTorch, but for half with usual filters. The
        gradient of images is asked for by nobody."""
        if self.is_depthwise() and kind not in ((0, True), (2, True), (9, True)):
            if kind != (2, False) or self.x[0] < 32 or self.kernel[0] not in (1, 3, 5):
                return False
        return not (self.from_image and direction == "bwd_data")

    def key(self, direction, batch, kind):
        dtype, nhwc = kind
        weight = [self.y[0], self.x[0] // self.groups, *self.kernel]
        tensors = [f"{dtype}:{','.join(map(str, dims))}/{','.join(map(str, strides(dims, nhwc)))}"
                   for dims in (weight, [batch, *self.x], [batch, *self.y])]
        return " ".join([direction, *tensors, *(",".join(map(str, v)) for v in (self.pad, self.stride, self.dilation)), "0"])


def strides(dims, nhwc):
    """Dense strides, as PyTorch has cuDNN see them: a dimension of size 1 has what the dimensions inside it take."""
    order = ([1] if nhwc else []) + list(range(len(dims) - 1, 1, -1)) + ([] if nhwc else [1]) + [0]
    made, step = [0] * len(dims), 1
    for dim in order:
        made[dim] = step
        step *= dims[dim]
    return made


def shuffled(*of):
    """A number that has nothing to do with what it is of, and is always the same: among keys of a rank none is preferred."""
    return hashlib.blake2b(repr(of).encode(), digest_size=8).digest()


def out_size(size, kernel, stride, pad, dilation=1):
    return (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1


def square(channels_in, channels_out, size, kernel=3, stride=1, pad=None):
    """A square convolution of a description below."""
    pad = kernel // 2 if pad is None else pad
    out = out_size(size, kernel, stride, pad)
    return Conv((channels_in, size, size), (channels_out, out, out), (kernel, kernel), (stride, stride), (pad, pad), (1, 1), 1,
                channels_in <= 3)


def resnet_block(channels_in, channels_out, size):
    convs = [square(channels_in, channels_out, size), square(channels_out, channels_out, size)]
    return convs + ([square(channels_in, channels_out, size, 1)] if channels_in != channels_out else [])


def diffusers_unet(size, channels, channels_in=4, layers=2, projections=False):
    """UNet2DModel and UNet2DConditionModel: blocks down, the middle, blocks up with what came down beside."""
    convs, skips, last = [square(channels_in, channels[0], size)], [channels[0]], channels[0]
    for level, width in enumerate(channels):
        for _ in range(layers):
            convs += resnet_block(last, width, size) + ([square(width, width, size, 1)] if projections else [])
            last = width
            skips.append(width)
        if level + 1 < len(channels):
            convs.append(square(width, width, size, 3, 2, 1))
            size = (size + 1) // 2
            skips.append(width)
    convs += resnet_block(last, last, size)
    for level, width in enumerate(reversed(channels)):
        for _ in range(layers + 1):
            convs += resnet_block(last + skips.pop(), width, size)
            last = width
        if level + 1 < len(channels):
            size *= 2
            convs.append(square(width, width, size))
    return convs + [square(last, channels_in, size)]


def diffusers_vae(size, channels=(128, 256, 512, 512), latent=4, layers=2):
    """AutoencoderKL: encoder and decoder."""
    convs, last = [square(3, channels[0], size)], channels[0]
    for level, width in enumerate(channels):
        for _ in range(layers):
            convs += resnet_block(last, width, size)
            last = width
        if level + 1 < len(channels):
            # Padded by one below and at the right before it.
            convs.append(Conv((width, size + 1, size + 1), (width, size // 2, size // 2), (3, 3), (2, 2), (0, 0), (1, 1), 1, False))
            size //= 2
    convs += resnet_block(last, last, size)
    convs += [square(last, 2 * latent, size), square(2 * latent, 2 * latent, size, 1), square(latent, latent, size, 1),
              square(latent, last, size)]
    for level, width in enumerate(reversed(channels)):
        for _ in range(layers + 1):
            convs += resnet_block(last, width, size)
            last = width
        if level + 1 < len(channels):
            size *= 2
            convs.append(square(width, width, size))
    return convs + [square(last, 3, size)]


def plain_unet(size, channels_in=3, width=64, depth=4):
    """Ronneberger's, padded; up by transposed convolutions, which ask as the convolution of which they are the gradient."""
    convs, last = [], channels_in
    for level in range(depth + 1):
        convs += [square(last, width << level, size), square(width << level, width << level, size)]
        last = width << level
        size //= 2
    size *= 2
    for level in reversed(range(depth)):
        size *= 2
        convs.append(square(width << level, last, size, 2, 2, 0))
        convs += [square(last, width << level, size), square(width << level, width << level, size)]
        last = width << level
    return convs + [square(last, 1, size, 1), square(last, 2, size, 1), square(last, 21, size, 1)]


def described():
    """(rank, its convolutions) of each description."""
    yield 0, diffusers_unet(64, (320, 640, 1280, 1280), projections=True)    # Stable Diffusion 1.5, 512 pixels
    yield 1, diffusers_unet(96, (320, 640, 1280, 1280), projections=True)    # 2.1, 768 pixels
    yield 1, diffusers_unet(128, (320, 640, 1280))                           # XL, 1024 pixels
    for size in (32, 64, 128, 256):
        yield 1, diffusers_unet(size, (128, 128, 256, 256, 512, 512), channels_in=3)
        yield 1, diffusers_unet(size, (64, 128, 256, 512), channels_in=3)
    for size, latent in ((512, 4), (256, 4), (1024, 4), (1024, 16)):
        yield (0 if size == 512 else 1), diffusers_vae(size, latent=latent)
    for size in (128, 256, 512, 572, 1024):
        yield (0 if size == 256 else 1), plain_unet(size)
        yield 1, plain_unet(size, channels_in=1, width=32)


def build_torchvision(name):
    """A model of which only the shapes are there: its weights are not made."""
    import torch
    from torchvision.models import get_model

    for one in dir(torch.nn.init):
        if one.endswith("_") and not one.startswith("_"):
            setattr(torch.nn.init, one, lambda tensor, *_, **__: tensor)
    options = {"weights_backbone": None} if name.startswith(("fcn", "deeplab", "lraspp")) else {}
    options.update({"init_weights": False} if name in ("googlenet", "inception_v3") else {})
    return get_model(name, weights=None, **options).to("meta").train()


def walk_torchvision(model, size):
    """The convolutions of a model for images of a size; none where the model does not take them."""
    import torch

    found = []

    def take(module, inputs, output):
        x, y = tuple(inputs[0].shape[1:]), tuple(output.shape[1:])
        if module.transposed:
            x, y = y, x
        if not isinstance(module.padding, str):
            found.append(Conv(x, y, module.kernel_size, module.stride, module.padding, module.dilation, module.groups,
                              inputs[0].shape[1] <= 3))

    hooks = [module.register_forward_hook(take) for module in model.modules()
             if isinstance(module, (torch.nn.Conv2d, torch.nn.ConvTranspose2d))]
    try:
        with torch.no_grad():
            model(torch.empty(2, 3, size, size, device="meta"))
    except (RuntimeError, ValueError, AssertionError):
        return []
    finally:
        for hook in hooks:
            hook.remove()
    return found


def all_models():
    for rank, convs in described():
        yield rank, convs
    for rank, names, sizes in TORCHVISION:
        for name in names.split():
            model = build_torchvision(name)
            for size, size_rank in sizes.items():
                convs = walk_torchvision(model, size)
                if not convs:
                    print(f"conv-shapes: {name} does not take images of {size}", file=sys.stderr)
                yield rank + size_rank, convs


def main():
    parser = argparse.ArgumentParser(description="Writes keys of convolutions of usual models.")
    parser.add_argument("--limit", type=int, default=60000)
    parser.add_argument("--batches", type=lambda text: {int(one): 0 for one in text.split(",")}, default=BATCHES)
    args = parser.parse_args()
    ranks = {}
    for rank, convs in all_models():
        for conv in convs:
            ranks[conv] = min(ranks.get(conv, 99), rank)
    asked = [(rank + batch_rank + kind_rank, shuffled(conv, batch, kind), conv, batch, kind)
             for conv, rank in ranks.items() for batch, batch_rank in args.batches.items() for kind, kind_rank in KINDS.items()]
    asked.sort(key=lambda one: one[:2])
    # Where all dimensions but one are of size 1, both layouts are the same key.
    keys = list(dict.fromkeys(conv.key(direction, batch, kind) for _, _, conv, batch, kind in asked[:args.limit]
                              for direction in DIRECTIONS if conv.is_asked(kind, direction)))
    print(f"conv-shapes: {len(ranks)} convolutions × {len(asked) // len(ranks)} batches, types and layouts; "
          f"{min(len(keys), args.limit)} keys", file=sys.stderr)
    for key in sorted(keys[:args.limit]):
        print(key)


main()
