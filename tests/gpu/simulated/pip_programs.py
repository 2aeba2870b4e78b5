#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs that use packages of pip as their users do, with models made from configurations: nothing is downloaded.

    pip_programs.py NAME            the program itself
    pip_table.py TARE PYTHON NAME…  runs them on a simulated card, and prints a row for each
"""

import os
import sys
import tempfile
import time


def train_with(module, optimizer, batch, steps=3):
    for _ in range(steps):
        module(batch()).float().sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def told(*more):
    """What PyTorch says it took at most."""
    import torch
    print("peak allocated", torch.cuda.max_memory_allocated(), *more)


def transformers_trainer(lora=False):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
    rows = [{"input_ids": torch.randint(0, 1000, (64,)), "labels": torch.randint(0, 1000, (64,))} for _ in range(64)]
    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=256, n_head=4, vocab_size=1000))
    if lora:
        from peft import LoraConfig, get_peft_model
        model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"], task_type="CAUSAL_LM"))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, max_steps=5, per_device_train_batch_size=8, report_to=[], bf16=True,
                                      save_strategy="no", disable_tqdm=True)
        told(Trainer(model, arguments, train_dataset=rows).train().global_step)


def peft_lora():
    transformers_trainer(lora=True)


def classes():
    import torch
    data = torch.utils.data.TensorDataset(torch.randn(256, 128), torch.randint(0, 10, (256,)))
    return torch.utils.data.DataLoader(data, batch_size=32)


def accelerate():
    """Also by `accelerate launch --multi_gpu --num_processes 2`."""
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(mixed_precision="fp16")
    model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, classes())
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    told(accelerator.num_processes, accelerator.gather(loss).shape)


def lightning(devices=1):
    import lightning
    import torch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(128, 10)

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    lightning.Trainer(max_epochs=1, accelerator="gpu", devices=devices, precision="16-mixed", logger=False,
                      enable_checkpointing=False, enable_progress_bar=False).fit(Model(), classes())
    told()


def lightning_two():
    lightning(2)


def diffusers():
    """A step of training and four of sampling, with a decoder of images."""
    import torch
    from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
    unet = UNet2DConditionModel(sample_size=32, layers_per_block=1, block_out_channels=(64, 128), cross_attention_dim=64,
                                down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")).cuda()
    decoder = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2,
                            up_block_types=("UpDecoderBlock2D",) * 2).cuda()
    scheduler, optimizer = DDPMScheduler(), torch.optim.AdamW(unet.parameters())
    x, t = torch.randn(2, 4, 32, 32, device="cuda"), torch.randint(0, 1000, (2,), device="cuda")
    noise = torch.randn_like(x)
    guess = unet(scheduler.add_noise(x, noise, t), t, encoder_hidden_states=torch.randn(2, 8, 64, device="cuda")).sample
    torch.nn.functional.mse_loss(guess, noise).backward()
    optimizer.step()
    scheduler.set_timesteps(4)
    with torch.no_grad():
        for t in scheduler.timesteps:
            x = scheduler.step(unet(x, t, encoder_hidden_states=torch.randn(2, 8, 64, device="cuda")).sample, t, x).prev_sample
        told(decoder.decode(x).sample.shape)


def deepspeed(stage=2):
    """By torchrun, with the stage of ZeRO in STAGE."""
    import deepspeed as ds
    import torch
    config = {"train_batch_size": 8, "bf16": {"enabled": True}, "zero_optimization": {"stage": int(os.environ.get("STAGE", stage))},
              "optimizer": {"type": "AdamW", "params": {"torch_adam": True}}}
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)])
    engine = ds.initialize(model=model, model_parameters=model.parameters(), config=config)[0]
    for _ in range(3):
        loss = engine(torch.randn(4, 1024, device=engine.device, dtype=torch.bfloat16)).float().sum()
        engine.backward(loss)
        engine.step()
    told("rank", os.environ["RANK"])


def tensor_parallel():
    """By torchrun: each layer's columns, then its rows, over two cards."""
    import torch
    from torch.distributed import device_mesh, destroy_process_group
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    mesh = device_mesh.init_device_mesh("cuda", (2,))
    layers = [torch.nn.Sequential(torch.nn.Linear(2048, 8192), torch.nn.ReLU(), torch.nn.Linear(8192, 2048)) for _ in range(4)]
    model = torch.nn.Sequential(*layers).cuda()
    for layer in model:
        parallelize_module(layer, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    train_with(model, torch.optim.AdamW(model.parameters()), lambda: torch.randn(256, 2048, device="cuda"))
    told("rank", os.environ["RANK"])
    destroy_process_group()


def pipeline():
    """By torchrun: half of the layers on each of two cards, four parts of a batch on their way."""
    import torch
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    rank = int(os.environ["RANK"])
    card = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(card)
    dist.init_process_group("nccl")
    half = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)) for _ in range(4)]).to(card)
    part = torch.randn(16, 1024, device=card)
    stage = PipelineStage(half, rank, 2, card, input_args=(part,), output_args=(part,))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=torch.nn.functional.mse_loss)
    optimizer = torch.optim.AdamW(half.parameters())
    for _ in range(3):
        whole = torch.randn(64, 1024, device=card)
        schedule.step(*([whole] if rank == 0 else []), **({"target": whole} if rank else {}))
        optimizer.step()
        optimizer.zero_grad()
    told("rank", rank)
    dist.destroy_process_group()


def torch_alone():
    """A PyTorch of any version: convolutions, attention, AdamW in half precision, cuSOLVER, cuFFT, a graph."""
    import torch
    parts = torch.nn.ModuleList([
        torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
                            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)),
        torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)]).cuda()
    optimizer = torch.optim.AdamW(parts.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = (parts[0](torch.randn(16, 3, 64, 64, device="cuda")).float().pow(2).mean()
                    + parts[1](torch.randn(8, 128, 256, device="cuda")).float().pow(2).mean())
        loss.backward()
        optimizer.step()
    torch.linalg.svd(torch.randn(64, 64, device="cuda"))
    torch.fft.fft(torch.randn(1024, device="cuda"))
    graph, x = torch.cuda.CUDAGraph(), torch.randn(8, 10, device="cuda")
    with torch.cuda.graph(graph):
        x = x * 2
    graph.replay()
    told(torch.__version__, torch.version.cuda, torch.backends.cudnn.version())


def vision():
    """Detection, of fixed proposals as nothing is learnt: its backbone and pyramid; and a segmentation."""
    import torch
    from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large
    backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5).cuda()
    optimizer = torch.optim.SGD(backbone.parameters(), lr=0.01, momentum=0.9)
    for _ in range(3):
        sum(x.mean() for x in backbone(torch.randn(4, 3, 256, 256, device="cuda")).values()).backward()
        optimizer.step()
        optimizer.zero_grad()
    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None).cuda().eval()
    with torch.no_grad():
        model(torch.randn(2, 3, 256, 256, device="cuda"))
    told()


def decode():
    """A Llama of four layers says 64 tokens with a cache, the same token each time: generate() ends by a value."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8,
                                         vocab_size=8192)).to("cuda", torch.bfloat16).eval()
    with torch.no_grad():
        for batch in (1, 16):
            cache, words = None, torch.ones(batch, 32, dtype=torch.long, device="cuda")
            for _ in range(64):
                cache = model(words, past_key_values=cache, use_cache=True).past_key_values
                words = torch.ones(batch, 1, dtype=torch.long, device="cuda")
    told()


def triton():
    import torch
    import triton as t
    import triton.language as tl

    @t.autotune([t.Config({"BLOCK": 256}), t.Config({"BLOCK": 1024})], key=["n"])
    @t.jit
    def add(x, y, z, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    x, y, z = (torch.ones(1 << 20, device="cuda") for _ in range(3))
    add[lambda k: (t.cdiv(x.numel(), k["BLOCK"]),)](x, y, z, x.numel())
    told()


def bitsandbytes():
    import bitsandbytes as bnb
    import torch
    model = torch.nn.Linear(1024, 1024).cuda()
    train_with(model, bnb.optim.AdamW8bit(model.parameters()), lambda: torch.randn(8, 1024, device="cuda"))
    for layer, dtype in ((bnb.nn.Linear4bit(1024, 1024, compute_dtype=torch.bfloat16), torch.bfloat16),
                         (bnb.nn.Linear8bitLt(1024, 1024, has_fp16_weights=False), torch.float16)):
        layer.cuda()(torch.randn(8, 1024, device="cuda", dtype=dtype))
    told()


def torchaudio():
    import torch
    import torchaudio as ta
    model = ta.models.wav2vec2_model("group_norm", [(64, 10, 5), (64, 3, 2)], False, 128, 0, 16, 4, 2, 4, 0, 256, 0, 0, False, 0,
                                     32).cuda()
    ta.transforms.MelSpectrogram(n_mels=64).cuda()(torch.randn(2, 16000, device="cuda"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(2, 16000, device="cuda"))[0].sum().backward()
    optimizer.step()
    told()


def torchaudio_lengths():
    """Its lengths are compared on the card: a value decides a shape."""
    import torch
    import torchaudio as ta
    model = ta.models.Conformer(80, 4, 128, 2, 31).cuda()
    model(torch.randn(4, 100, 80, device="cuda"), torch.full((4,), 100, device="cuda"))


def onnxruntime():
    import numpy
    import onnxruntime as ort
    from onnx import TensorProto, helper

    def zeros(name, *shape):
        return helper.make_tensor(name, TensorProto.FLOAT, shape, bytes(4 * int(numpy.prod(shape))), raw=True)

    def value(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("MatMul", ["r", "b"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value("x", 1, 3, 34, 34)], [value("y", 1, 16, 32, 64)],
                              [zeros("w", 16, 3, 3, 3), zeros("b", 32, 64)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])
    print(session.get_providers(), session.run(None, {"x": numpy.zeros((1, 3, 34, 34), numpy.float32)})[0].shape)


def numba_cuda():
    import numpy
    from numba import cuda

    @cuda.jit
    def add(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += x[i]

    x = cuda.to_device(numpy.arange(1 << 20, dtype=numpy.float32))
    y = cuda.device_array_like(x)
    add[4096, 256](x, y)
    print(y.copy_to_host().shape, cuda.current_context().get_memory_info())


def jax():
    """On all GPUs: convolutions, a product, gradients, and what cuSOLVER and cuFFT do."""
    import jax as j
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    mesh = Mesh(j.devices(), ("d",))

    def loss(w, x):
        x = j.lax.conv_general_dilated(x, w["c"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.mean(j.nn.log_softmax(j.nn.relu(x).reshape(x.shape[0], -1) @ w["d"]) ** 2)

    w = {"c": jnp.ones((3, 3, 3, 16)), "d": jnp.ones((32 * 32 * 16, 10))}
    x = j.device_put(jnp.ones((64, 32, 32, 3)), NamedSharding(mesh, PartitionSpec("d")))
    step = j.jit(j.value_and_grad(loss))
    for _ in range(2):
        w = j.tree.map(lambda a, b: a - 0.1 * b, w, step(w, x)[1])
    print(jnp.linalg.svd(jnp.ones((64, 64)))[1].shape, jnp.fft.fft(jnp.ones(1024)).shape, j.devices(),
          j.devices()[0].memory_stats()["peak_bytes_in_use"])


def cupy():
    import cupy as cp
    print((cp.zeros((1024, 1024)) @ cp.ones((1024, 1024))).sum(), cp.get_default_memory_pool().total_bytes())


def xgboost():
    import numpy
    import xgboost as xgb
    x = numpy.random.rand(1000, 10)
    print(xgb.train({"device": "cuda", "tree_method": "hist"}, xgb.DMatrix(x, label=x[:, 0] > 0.5), 3))


def vllm():
    """The engine's start, to the number of its KV blocks, and a sentence."""
    from transformers import LlamaConfig
    import vllm as v
    with tempfile.TemporaryDirectory() as folder:
        LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4, vocab_size=1024,
                    architectures=["LlamaForCausalLM"], dtype="bfloat16").save_pretrained(folder)
        more = {}
        if os.environ.get("GRAPHS"):  # without torch.compile, whose kernels take minutes
            more = {"max_num_seqs": 32, "compilation_config": {"mode": 0, "cudagraph_mode": os.environ["GRAPHS"]}}
        engine = v.LLM(folder, load_format="dummy", skip_tokenizer_init=True, enforce_eager=bool(os.environ.get("EAGER")),
                       max_model_len=512, **more)
        print("KV blocks", engine.llm_engine.vllm_config.cache_config.num_gpu_blocks)


def timm():
    """Four models in fp16 with LAMB, a GradScaler and an average of the weights."""
    import timm as t
    import timm.optim
    import timm.utils
    import torch
    for name in ("resnet18", "vit_tiny_patch16_224", "efficientnet_b0", "convnext_atto"):
        model = t.create_model(name, num_classes=10).cuda()
        optimizer, scaler = t.optim.create_optimizer_v2(model, opt="lamb", lr=1e-3), torch.amp.GradScaler("cuda")
        average = t.utils.ModelEmaV3(model)
        for _ in range(2):
            with torch.autocast("cuda", torch.float16):
                loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3, 224, 224, device="cuda")),
                                                         torch.zeros(4, dtype=torch.long, device="cuda"))
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            average.update(model)
    told()


def geometric():
    """How many graphs a batch has is the greatest of numbers on the card: a value decides a shape."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GATConv, GCNConv, global_mean_pool
    graphs = [Data(x=torch.randn(30, 16), edge_index=torch.randint(0, 30, (2, 100)), y=torch.tensor([0])) for _ in range(32)]
    first, second, last = GCNConv(16, 64).cuda(), GATConv(64, 32, heads=4).cuda(), torch.nn.Linear(128, 2).cuda()
    for batch in DataLoader(graphs, batch_size=8):
        batch = batch.to("cuda")
        x = second(first(batch.x, batch.edge_index).relu(), batch.edge_index).relu()
        torch.nn.functional.cross_entropy(last(global_mean_pool(x, batch.batch)), batch.y).backward()
    told()


def torchao():
    """Weights of 8 bits, a training in float8, an optimizer of 8 bits."""
    import torch
    from torchao.float8 import convert_to_float8_training
    from torchao.optim import AdamW8bit
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    def layers():
        return torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(4)]).to("cuda", torch.bfloat16)

    small = layers()
    quantize_(small, Int8WeightOnlyConfig())
    with torch.no_grad():
        small(torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16))
    model = convert_to_float8_training(layers())
    model(torch.randn(32, 1024, device="cuda", dtype=torch.bfloat16)).sum().backward()
    AdamW8bit(model.parameters()).step()
    told()


def qlora():
    """trl's SFTTrainer: a Llama of two layers in 4 bits, LoRA, a paged optimizer of 8 bits, checkpoints."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig, prepare_model_for_kbit_training
    from tokenizers import Tokenizer, models
    from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer
    with tempfile.TemporaryDirectory() as folder:
        LlamaForCausalLM(LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
                                     vocab_size=128)).to(torch.bfloat16).save_pretrained(folder)
        words = Tokenizer(models.WordLevel({"<unk>": 0, "</s>": 1, "a": 2}, "<unk>"))
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="</s>", pad_token="</s>", unk_token="<unk>")
        bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16,
                                  bnb_4bit_use_double_quant=True)
        model = LlamaForCausalLM.from_pretrained(folder, quantization_config=bits, device_map={"": 0})
        arguments = SFTConfig(folder, max_steps=3, per_device_train_batch_size=4, report_to=[], save_strategy="no", bf16=True,
                              optim="paged_adamw_8bit", gradient_checkpointing=True, dataset_text_field="text", max_length=64)
        SFTTrainer(prepare_model_for_kbit_training(model), arguments, train_dataset=Dataset.from_dict({"text": ["a a a a a a"] * 64}),
                   processing_class=tokenizer, peft_config=LoraConfig(r=8, target_modules="all-linear", task_type="CAUSAL_LM")).train()
    told()


def yolo():
    """An epoch of ultralytics' smallest YOLO over eight images, and its validation."""
    import numpy
    import PIL.Image
    from ultralytics import YOLO
    with tempfile.TemporaryDirectory() as folder:
        for part in ("train", "val"):
            for kind in ("images", "labels"):
                os.makedirs(os.path.join(folder, kind, part))
            for i in range(8):
                image = numpy.random.randint(0, 255, (128, 128, 3), dtype=numpy.uint8)
                PIL.Image.fromarray(image).save(os.path.join(folder, "images", part, "%d.png" % i))
                with open(os.path.join(folder, "labels", part, "%d.txt" % i), "w", encoding="utf-8") as file:
                    file.write("0 0.5 0.5 0.2 0.2\n")
        data = os.path.join(folder, "data.yaml")
        with open(data, "w", encoding="utf-8") as file:
            file.write("path: %s\ntrain: images/train\nval: images/val\nnames: {0: x}\n" % folder)
        os.chdir(folder)
        YOLO("yolov8n.yaml").train(data=data, epochs=1, imgsz=128, batch=4, device=0, workers=0, plots=False, verbose=False, amp=False)
    told()


def xformers():
    import torch
    import xformers.ops as xops
    q = torch.randn(2, 128, 8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    xops.memory_efficient_attention(q, q, q, attn_bias=xops.LowerTriangularMask()).sum().backward()
    told()


def fbgemm():
    """Four tables of embeddings in one."""
    import torch
    from fbgemm_gpu.split_table_batched_embeddings_ops_training import ComputeDevice, EmbeddingLocation, SplitTableBatchedEmbeddingBagsCodegen
    tables = SplitTableBatchedEmbeddingBagsCodegen([(10000, 64, EmbeddingLocation.DEVICE, ComputeDevice.CUDA)] * 4)
    tables(torch.randint(0, 10000, (40,), device="cuda"), torch.arange(0, 41, device="cuda")).sum().backward()
    told()


def torchrec():
    """What values are split by is the sum of lengths on the card: a value decides a shape."""
    import torch
    import torchrec as rec
    tables = rec.EmbeddingBagCollection(device="cuda", tables=[rec.EmbeddingBagConfig(
        name="t", embedding_dim=64, num_embeddings=1000, feature_names=["f"], pooling=rec.PoolingType.SUM)])
    features = rec.KeyedJaggedTensor(keys=["f"], values=torch.tensor([1, 2, 3]), lengths=torch.tensor([1, 2])).to(torch.device("cuda"))
    tables(features).values().sum().backward()
    told()


def words(folder, **more):
    """A tokenizer of three words."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"<unk>": 0, "</s>": 1, "a": 2}, "<unk>")),
                                   eos_token="</s>", pad_token="</s>", unk_token="<unk>", **more)
    made.save_pretrained(folder)
    return made


def unsloth():
    """A small Llama in 4 bits with LoRA; set TRACE to a number of seconds to see where it is each time."""
    import faulthandler
    import tempfile
    if os.environ.get("TRACE"):
        faulthandler.dump_traceback_later(int(os.environ["TRACE"]), repeat=True)
    begin = time.time()
    import unsloth as fast
    import torch
    from datasets import Dataset
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl import SFTConfig, SFTTrainer
    print("imported after %.0f s" % (time.time() - begin), flush=True)
    folder = tempfile.mkdtemp()
    LlamaForCausalLM(LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
                                 vocab_size=128)).to(torch.bfloat16).save_pretrained(folder)
    words(folder)
    model, _ = fast.FastLanguageModel.from_pretrained(folder, max_seq_length=64, load_in_4bit=True, local_files_only=True)
    model = fast.FastLanguageModel.get_peft_model(model, r=8, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                                                                              "down_proj"])
    print("model made after %.0f s" % (time.time() - begin), flush=True)
    data = Dataset.from_dict({"text": ["a a a a a a"] * 64})
    args = SFTConfig(os.path.join(folder, "o"), max_steps=3, per_device_train_batch_size=4, report_to=[], save_strategy="no",
                     dataset_text_field="text", max_length=64)
    trainer = SFTTrainer(model=model, args=args, train_dataset=data, processing_class=words(folder))
    print("trainer made after %.0f s" % (time.time() - begin), flush=True)
    trainer.train()
    print("trained after %.0f s" % (time.time() - begin), flush=True)
    told()


def spconv():
    """Sparse convolutions: how many outputs there are, a kernel computes."""
    import spconv.pytorch as sp
    import torch
    net = sp.SparseSequential(sp.SubMConv3d(16, 32, 3, indice_key="a"), torch.nn.ReLU(), sp.SparseConv3d(32, 64, 3, stride=2),
                              sp.ToDense()).cuda()
    at = torch.stack([torch.zeros(1000, dtype=torch.int32), *(torch.randint(0, 32, (1000,), dtype=torch.int32) for _ in range(3))], 1)
    net(sp.SparseConvTensor(torch.randn(1000, 16, device="cuda"), at.cuda(), [32, 32, 32], 1)).sum().backward()
    told()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
