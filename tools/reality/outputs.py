"""What the libraries themselves write, each with its own count of parameters: small models with random weights.

Each function writes into a folder and returns how many parameters the library counts, or None where it counts none. Its
first word is the tool, as the table groups them. A tool that is not installed is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Make = Callable[[Path], "int | None"]
OUTPUTS: dict[str, Make] = {}


def output(make: Make) -> Make:
    """Registers what one function writes, under its name."""
    OUTPUTS[make.__name__] = make
    return make


def count(model: Any) -> int:
    """Parameters as PyTorch counts them: shared ones once."""
    return sum(each.numel() for each in model.parameters())


def llama(**changed: Any) -> Any:
    import transformers

    fields = {
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**{**fields, "max_position_embeddings": 128, **changed})
    ).eval()


def bert(kind: str = "BertModel", **changed: Any) -> Any:
    import transformers

    fields = {
        "vocab_size": 256,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
    }
    return getattr(transformers, kind)(transformers.BertConfig(**{**fields, **changed})).eval()


def plain_config(model: Any, folder: Path) -> None:
    """A configuration that names no class, as `config.save_pretrained` writes it for a model that was not saved."""
    config = model.config.__class__.from_dict(
        {key: value for key, value in model.config.to_dict().items() if key != "architectures"}
    )
    config.save_pretrained(folder)


# --- Transformers and PyTorch ---------------------------------------------------------------------


@output
def transformers_shards(folder: Path) -> int:
    model = llama()
    model.save_pretrained(folder, max_shard_size="100KB")
    return count(model)


@output
def transformers_tied(folder: Path) -> int:
    model = llama(tie_word_embeddings=True)
    model.save_pretrained(folder)
    return count(model)


@output
def transformers_vision(folder: Path) -> int:
    import transformers

    model = transformers.ViTForImageClassification(
        transformers.ViTConfig(
            hidden_size=48,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
            num_labels=5,
        )
    )
    model.save_pretrained(folder)
    return count(model)


def _dumped(model: Any, folder: Path, name: str = "pytorch_model.bin") -> int:
    import torch

    torch.save(model.state_dict(), folder / name)
    plain_config(model, folder)
    return count(model)


@output
def torch_bert_masked(folder: Path) -> int:
    return _dumped(bert("BertForMaskedLM"), folder)


@output
def torch_bert_classifier(folder: Path) -> int:
    return _dumped(bert("BertForSequenceClassification", num_labels=3), folder)


@output
def torch_bert_tokens(folder: Path) -> int:
    return _dumped(bert("BertForTokenClassification", num_labels=3), folder, "model.pt")


@output
def torch_roberta_masked(folder: Path) -> int:
    import transformers

    return _dumped(
        transformers.RobertaForMaskedLM(
            transformers.RobertaConfig(
                vocab_size=256,
                hidden_size=64,
                intermediate_size=128,
                num_hidden_layers=2,
                num_attention_heads=4,
                max_position_embeddings=66,
            )
        ),
        folder,
    )


@output
def torch_vit_classifier(folder: Path) -> int:
    import transformers

    return _dumped(
        transformers.ViTForImageClassification(
            transformers.ViTConfig(
                hidden_size=48,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                image_size=32,
                patch_size=8,
                num_labels=5,
            )
        ),
        folder,
    )


@output
def torch_distilbert_classifier(folder: Path) -> int:
    import transformers

    return _dumped(
        transformers.DistilBertForSequenceClassification(
            transformers.DistilBertConfig(vocab_size=256, dim=64, hidden_dim=128, n_layers=2, n_heads=4)
        ),
        folder,
    )


@output
def torch_whole_module(folder: Path) -> int:
    import torch

    model = llama()
    torch.save(model, folder / "model.pt")
    return count(model)


@output
def torch_many_layers(folder: Path) -> int:
    """A module whose activation and settings are shared by more than eight others."""
    import torch

    shared = torch.nn.ReLU()
    shared.settings = {"a": [1, 2]}
    model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(8, 8), shared) for _ in range(20)))
    torch.save(model, folder / "model.pth")
    return count(model)


@output
def torch_averaged(folder: Path) -> int:
    import torch

    model = torch.optim.swa_utils.AveragedModel(llama())
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def torch_script(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(*(torch.nn.Conv1d(4, 4, 3) for _ in range(20)))
    torch.jit.script(model).save(str(folder / "model.pt"))
    return count(model)


@output
def torch_training(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 16)).square().mean().backward()
        optimizer.step()
    torch.save(
        {
            "epoch": 3,
            "state_dict": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "best_acc1": torch.tensor(71.5),
        },
        folder / "model_best.pth.tar",
    )
    return count(model)


@output
def torch_nanogpt(folder: Path) -> int:
    import torch

    model = torch.nn.ModuleDict(
        {"wte": torch.nn.Embedding(65, 32), "h": torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(4))}
    )
    state = {
        "model": model.state_dict(),
        "model_args": {"n_layer": 4},
        "iter_num": 20,
        "best_val_loss": torch.tensor(1.5),
        "config": {"out_dir": "out"},
    }
    torch.save(state, folder / "ckpt.pt")
    return count(model)


@output
def torch_distributed(folder: Path) -> int:
    from torch.distributed.checkpoint import save

    model = llama()
    save(model.state_dict(), checkpoint_id=str(folder), no_dist=True)
    return count(model)


@output
def torch_distributed_hugging_face(folder: Path) -> int:
    from torch.distributed.checkpoint import HuggingFaceStorageWriter, save

    model = llama()
    names = {name: 1 + number % 2 for number, name in enumerate(model.state_dict())}
    save(
        model.state_dict(),
        storage_writer=HuggingFaceStorageWriter(str(folder), fqn_to_index_mapping=names),
        no_dist=True,
    )
    return count(model)


@output
def torch_consolidated(folder: Path) -> int:
    from torch.distributed.checkpoint import save
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

    model = llama()
    save({"model": model.state_dict()}, checkpoint_id=str(folder.parent / "ranks"), no_dist=True)
    dcp_to_torch_save(str(folder.parent / "ranks"), str(folder / "pytorch_model.bin"))
    plain_config(model, folder)
    return count(model)


@output
def safetensors_tied(folder: Path) -> int:
    from safetensors.torch import save_model

    model = llama(tie_word_embeddings=True)
    save_model(model, str(folder / "model.safetensors"))
    return count(model)


@output
def accelerate_shards(folder: Path) -> int:
    from accelerate import Accelerator

    model = llama()
    Accelerator(cpu=True).save_model(model, str(folder), max_shard_size="100KB")
    return count(model)


@output
def accelerate_state(folder: Path) -> int:
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = accelerator.prepare(llama())
    accelerator.save_state(str(folder))
    return count(model)


# --- adapters -------------------------------------------------------------------------------------


def _with_lora(**fields: Any) -> Any:
    import peft

    return peft.get_peft_model(llama(), peft.LoraConfig(**{"r": 4, "target_modules": ["q_proj", "v_proj"], **fields}))


@output
def peft_state(folder: Path) -> int:
    import torch

    model = _with_lora()
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def peft_state_all(folder: Path) -> int:
    import torch

    model = _with_lora(target_modules="all-linear")
    torch.save(model.state_dict(), folder / "model.pt")
    return count(model)


@output
def peft_lora(folder: Path) -> int:
    model = _with_lora()
    model.save_pretrained(folder)
    return int(model.num_parameters(only_trainable=True))


@output
def peft_embeddings(folder: Path) -> int:
    import torch

    model = _with_lora(target_modules=["embed_tokens", "q_proj"])
    for name, each in model.named_parameters():
        if "lora" in name:
            torch.nn.init.normal_(each, std=0.02)
    model.save_pretrained(folder)
    return int(model.num_parameters(only_trainable=True))


# --- diffusers ------------------------------------------------------------------------------------


def _diffusion(folder: Path) -> Any:
    import diffusers
    import transformers

    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
    )
    text = transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            hidden_size=32,
            intermediate_size=37,
            num_attention_heads=4,
            num_hidden_layers=2,
            vocab_size=300,
            bos_token_id=1,
            eos_token_id=2,
        )
    )
    return diffusers.StableDiffusionPipeline(
        unet=unet,
        vae=vae,
        text_encoder=text,
        tokenizer=_tokenizer(folder),
        scheduler=diffusers.DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


@output
def diffusers_pipeline(folder: Path) -> int:
    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder)
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_pickled(folder: Path) -> int:
    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder, safe_serialization=False)
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_all_pickled(folder: Path) -> int:
    """As pipelines of 2022 are: the text encoder in PyTorch's format, too."""
    import torch

    pipeline = _diffusion(folder)
    pipeline.save_pretrained(folder, safe_serialization=False)
    (folder / "text_encoder/model.safetensors").unlink(missing_ok=True)
    torch.save(pipeline.text_encoder.state_dict(), folder / "text_encoder/pytorch_model.bin")
    return count(pipeline.unet) + count(pipeline.vae) + count(pipeline.text_encoder)


@output
def diffusers_averaged(folder: Path) -> int:
    import diffusers
    from diffusers.training_utils import EMAModel

    unet = _diffusion(folder).unet
    EMAModel(unet.parameters(), model_cls=diffusers.UNet2DConditionModel, model_config=unet.config).save_pretrained(
        folder
    )
    return count(unet)


# --- sentence-transformers ------------------------------------------------------------------------


def _tokenizer(folder: Path) -> Any:
    import transformers

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(251))]
    (folder / "words.txt").write_text("\n".join(words))
    try:
        return transformers.BertTokenizerFast(vocab_file=str(folder / "words.txt"))
    finally:
        (folder / "words.txt").unlink()


def _sentences(folder: Path, *more: Any) -> Any:
    import sentence_transformers as st
    from sentence_transformers import models

    base = folder.parent / "base"
    base.mkdir(exist_ok=True)
    bert().save_pretrained(base)
    _tokenizer(base).save_pretrained(base)
    transformer = models.Transformer(str(base))
    return st.SentenceTransformer(modules=[transformer, models.Pooling(64), *more], device="cpu")


@output
def sentences_dense(folder: Path) -> int:
    from sentence_transformers import models

    model = _sentences(folder, models.Dense(64, 32))
    model.save(str(folder))
    return count(model)


@output
def sentences_dense_pickled(folder: Path) -> int:
    from sentence_transformers import models

    model = _sentences(folder, models.Dense(64, 32, bias=False), models.Normalize())
    model.save(str(folder), safe_serialization=False)
    return count(model)


@output
def sentences_dense_mixed(folder: Path) -> int:
    """As sentence-t5 is published: the body as safetensors, Dense as it was first written."""
    import torch
    from sentence_transformers import models

    dense = models.Dense(64, 48)
    model = _sentences(folder, dense)
    model.save(str(folder))
    (folder / "2_Dense/model.safetensors").unlink()
    torch.save(dense.state_dict(), folder / "2_Dense/pytorch_model.bin")
    return count(model)


@output
def sentences_static(folder: Path) -> int:
    import sentence_transformers as st
    from sentence_transformers import models

    base = folder.parent / "base"
    base.mkdir(exist_ok=True)
    model = st.SentenceTransformer(modules=[models.StaticEmbedding(_tokenizer(base), embedding_dim=24)], device="cpu")
    model.save(str(folder))
    return count(model)


@output
def sentences_model2vec(folder: Path) -> None:
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(
        models.WordLevel({"[PAD]": 0, "[UNK]": 1, **{f"w{number}": number + 2 for number in range(98)}}, "[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    mapping = np.arange(100) % 40
    StaticModel(
        np.random.randn(40, 16).astype("float32"), tokenizer, token_mapping=mapping, weights=np.ones(100, "float32")
    ).save_pretrained(folder)


# --- Keras, JAX, MLX ------------------------------------------------------------------------------


def _keras(kind: str) -> Any:
    import keras

    if kind == "sequential":
        return keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    inputs = keras.Input((16, 16, 3))
    hidden = keras.layers.BatchNormalization()(keras.layers.Conv2D(8, 3, activation="relu")(inputs))
    hidden = keras.layers.Add()([hidden, keras.layers.Conv2D(8, 1)(hidden)])
    hidden = keras.ops.cast(hidden, "float32") if kind == "operations" else hidden
    return keras.Model(inputs, keras.layers.Dense(3)(keras.layers.GlobalAveragePooling2D()(hidden)))


def _keras_saved(kind: str, folder: Path, name: str, *, trained: bool = True) -> int:
    import numpy as np

    model = _keras(kind)
    if trained:
        model.compile(optimizer="adam", loss="mse", metrics=["mae"])
        shape = model.input_shape[1:]
        model.fit(np.random.rand(8, *shape), np.random.rand(8, model.output_shape[-1]), epochs=1, verbose=0)
    model.save_weights(folder / name) if name.endswith(".weights.h5") else model.save(folder / name)
    return int(model.count_params())


@output
def keras_sequential(folder: Path) -> int:
    return _keras_saved("sequential", folder, "model.keras")


@output
def keras_functional(folder: Path) -> int:
    return _keras_saved("functional", folder, "model.keras", trained=False)


@output
def keras_functional_trained(folder: Path) -> int:
    return _keras_saved("functional", folder, "model.keras")


@output
def keras_operations(folder: Path) -> int:
    return _keras_saved("operations", folder, "model.keras")


@output
def keras_h5(folder: Path) -> int:
    return _keras_saved("functional", folder, "model.h5")


@output
def keras_weights(folder: Path) -> int:
    return _keras_saved("functional", folder, "model.weights.h5")


@output
def keras_application(folder: Path) -> int:
    import keras

    model = keras.applications.MobileNetV3Small(weights=None, input_shape=(32, 32, 3), classes=4)
    model.save(folder / "model.keras")
    return int(model.count_params())


@output
def flax_msgpack(folder: Path) -> int:
    import jax.numpy as jnp
    from flax.serialization import msgpack_serialize

    state = {
        "params": {
            "Dense_0": {"kernel": jnp.ones((8, 16)), "bias": jnp.zeros(16)},
            "Dense_1": {"kernel": jnp.ones((16, 2)), "bias": jnp.zeros(2)},
        }
    }
    (folder / "flax_model.msgpack").write_bytes(msgpack_serialize(state))
    return 8 * 16 + 16 + 16 * 2 + 2


@output
def mlx_quantized(folder: Path) -> int:
    import mlx.core as mx
    from mlx import nn
    from mlx.utils import tree_flatten
    from mlx_lm.models import llama as of_mlx

    fields = {
        "model_type": "llama",
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "intermediate_size": 256,
        "num_attention_heads": 4,
        "rms_norm_eps": 1e-5,
        "vocab_size": 256,
        "num_key_value_heads": 2,
        "tie_word_embeddings": False,
    }
    model = of_mlx.Model(of_mlx.ModelArgs(**fields))
    number = sum(value.size for _, value in tree_flatten(model.parameters()))
    nn.quantize(model, group_size=64, bits=4)
    mx.save_safetensors(
        str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), metadata={"format": "mlx"}
    )
    (folder / "config.json").write_text(
        json.dumps({**fields, "architectures": ["LlamaForCausalLM"], "quantization": {"group_size": 64, "bits": 4}})
    )
    return int(number)


# --- quantizers -----------------------------------------------------------------------------------


@output
def hqq_own(folder: Path) -> int:
    import torch
    from hqq.core.quantize import BaseQuantizeConfig
    from hqq.models.hf.base import AutoHQQHFModel

    model = llama()
    number = count(model)
    AutoHQQHFModel.quantize_model(
        model, quant_config=BaseQuantizeConfig(nbits=4, group_size=64), compute_dtype=torch.float32, device="cpu"
    )
    AutoHQQHFModel.save_quantized(model, str(folder))
    return number


@output
def quanto_own(folder: Path) -> int:
    from optimum.quanto import QuantizedModelForCausalLM, qint8

    model = llama()
    number = count(model)
    QuantizedModelForCausalLM.quantize(model, weights=qint8, exclude="lm_head").save_pretrained(str(folder))
    return number


@output
def torchao_state(folder: Path) -> int:
    import torch
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    model = llama()
    number = count(model)
    quantize_(model, Int8WeightOnlyConfig())
    torch.save(model.state_dict(), folder / "model.pt")
    return number


@output
def torchao_transformers(folder: Path) -> int:
    import transformers
    from torchao.quantization import Int8WeightOnlyConfig

    model = llama()
    number = count(model)
    model.save_pretrained(folder.parent / "plain")
    config = transformers.TorchAoConfig(Int8WeightOnlyConfig())
    transformers.AutoModelForCausalLM.from_pretrained(
        folder.parent / "plain", quantization_config=config
    ).save_pretrained(folder)
    return number


def _compressed(folder: Path, scheme: str) -> int:
    from llmcompressor import oneshot
    from llmcompressor.modifiers.quantization import QuantizationModifier

    model = llama(hidden_size=128, intermediate_size=256)
    number = count(model)
    model.save_pretrained(folder.parent / "plain")
    _tokenizer(folder).save_pretrained(folder.parent / "plain")
    model = type(model).from_pretrained(folder.parent / "plain")
    oneshot(
        model=model,
        tokenizer=str(folder.parent / "plain"),
        recipe=QuantizationModifier(targets="Linear", scheme=scheme, ignore=["lm_head"]),
    )
    model.save_pretrained(folder, save_compressed=True)
    return number


@output
def compressed_nvfp4(folder: Path) -> int:
    return _compressed(folder, "NVFP4A16")


@output
def compressed_w4a16(folder: Path) -> int:
    return _compressed(folder, "W4A16")


@output
def compressed_fp8(folder: Path) -> int:
    return _compressed(folder, "FP8_DYNAMIC")


@output
def compressed_mxfp4(folder: Path) -> int:
    return _compressed(folder, "MXFP4A16")


def _rounded(folder: Path, layout: str) -> int:
    from auto_round import AutoRound

    model = llama(hidden_size=128, intermediate_size=256)
    number = count(model)
    made = AutoRound(
        model, tokenizer=_tokenizer(folder), scheme="W4A16", iters=0, disable_opt_rtn=True, device_map="cpu"
    )
    made.quantize_and_save(str(folder), format=layout)
    return number


@output
def autoround_own(folder: Path) -> int:
    return _rounded(folder, "auto_round")


@output
def autoround_gptq(folder: Path) -> int:
    return _rounded(folder, "auto_gptq")


@output
def autoround_awq(folder: Path) -> int:
    return _rounded(folder, "auto_awq")


@output
def autoround_compressor(folder: Path) -> int:
    return _rounded(folder, "llm_compressor")


def _of_bitsandbytes(folder: Path, **fields: Any) -> int:
    import torch
    import transformers

    model = llama()
    number = count(model)
    model.to(torch.bfloat16).save_pretrained(folder.parent / "plain")
    config = transformers.BitsAndBytesConfig(**fields)
    transformers.AutoModelForCausalLM.from_pretrained(
        folder.parent / "plain", quantization_config=config, device_map="cpu"
    ).save_pretrained(folder)
    return number


@output
def bitsandbytes_nf4(folder: Path) -> int:
    return _of_bitsandbytes(folder, load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True)


@output
def bitsandbytes_storage(folder: Path) -> int:
    import torch

    return _of_bitsandbytes(folder, load_in_4bit=True, bnb_4bit_quant_type="fp4", bnb_4bit_quant_storage=torch.bfloat16)


# --- others ---------------------------------------------------------------------------------------


@output
def timm_folder(folder: Path) -> int:
    import timm
    from timm.models import save_for_hf

    model = timm.create_model("resnet18", num_classes=5)
    save_for_hf(model, str(folder))
    return count(model)


@output
def open_clip_folder(folder: Path) -> int:
    import open_clip
    from open_clip.push_to_hf_hub import save_for_hf

    sizes = {"embed_dim": 64, "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8}}
    config = {**sizes, "text_cfg": {"context_length": 16, "vocab_size": 300, "width": 64, "heads": 4, "layers": 2}}
    model = open_clip.CLIP(**config)
    model.visual.image_mean = model.visual.image_std = (0.5, 0.5, 0.5)
    tokenizer = open_clip.tokenizer.HFTokenizer.__new__(open_clip.tokenizer.HFTokenizer)
    tokenizer.tokenizer = _tokenizer(folder)
    save_for_hf(model, tokenizer, config, str(folder))
    return count(model)


@output
def torchvision_weights(folder: Path) -> int:
    import torch
    import torchvision

    model = torchvision.models.mobilenet_v3_small(num_classes=4)
    torch.save(model.state_dict(), folder / "model.pth")
    return count(model)


@output
def lightning_checkpoint(folder: Path) -> int:
    import lightning
    import torch

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.save_hyperparameters({"width": 32})
            self.net = torch.nn.Sequential(*(torch.nn.Linear(32, 32) for _ in range(4)))

        def training_step(self, batch: Any, _: int) -> Any:
            return self.net(batch).square().mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters())

    model = Model()
    trainer = lightning.Trainer(
        max_steps=3,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.randn(12, 32), batch_size=4))
    trainer.save_checkpoint(folder / "last.ckpt")
    return count(model)


@output
def lightning_hydra(folder: Path) -> int:
    """A checkpoint whose hyperparameters are OmegaConf's, as Hydra's templates save them."""
    import torch
    from omegaconf import OmegaConf

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 2))
    settings = OmegaConf.create({"model": {"width": 16, "rates": [0.1, 0.2], "name": "net", "deep": {"on": True}}})
    torch.save(
        {"state_dict": model.state_dict(), "hyper_parameters": settings, "epoch": 4, "global_step": 100},
        folder / "epoch=4.ckpt",
    )
    return count(model)


@output
def fastai_learner(folder: Path) -> int:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2))
    torch.save(
        {"model": model.state_dict(), "opt": torch.optim.Adam(model.parameters()).state_dict()}, folder / "stage-1.pth"
    )
    return count(model)


@output
def mergekit_linear(folder: Path) -> int:
    import torch
    from mergekit.config import MergeConfiguration
    from mergekit.merge import MergeOptions, run_merge

    model = llama()
    for name in "ab":
        llama().to(torch.bfloat16).save_pretrained(folder.parent / name)
    parts = [{"model": str(folder.parent / name), "parameters": {"weight": 0.5}} for name in "ab"]
    run_merge(
        MergeConfiguration.model_validate({"merge_method": "linear", "models": parts, "dtype": "bfloat16"}),
        str(folder),
        MergeOptions(copy_tokenizer=False),
    )
    return count(model)


@output
def gguf_writer(folder: Path) -> int:
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(str(folder / "model.gguf"), "bert")
    writer.add_block_count(2)
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(128)
    writer.add_head_count(4)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    shapes = {"token_embd": (256, 64), "position_embd": (64, 64), "token_embd_norm": (64,)}
    for at in range(2):
        shapes |= {
            f"blk.{at}.{name}": shape
            for name, shape in {
                "attn_q": (64, 64),
                "attn_k": (64, 64),
                "attn_v": (64, 64),
                "attn_output": (64, 64),
                "attn_output_norm": (64,),
                "ffn_up": (128, 64),
                "ffn_down": (64, 128),
                "layer_output_norm": (64,),
            }.items()
        }
    total = 0
    for name, shape in shapes.items():
        for end, own in (("weight", shape), ("bias", shape[:1])):
            if end == "bias" and name in ("token_embd", "position_embd"):
                continue
            writer.add_tensor(f"{name}.{end}", np.random.randn(*own).astype("float32"))
            total += int(np.prod(own))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return total


@output
def kohya_lora(folder: Path) -> int:
    """The layout of kohya's sd-scripts, written by hand."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, Any] = {}
    for at in range(2):
        for end in ("q_proj", "v_proj"):
            name = f"lora_te_text_model_encoder_layers_{at}_self_attn_{end}"
            tensors |= {
                f"{name}.lora_down.weight": torch.randn(4, 32) / 8,
                f"{name}.lora_up.weight": torch.randn(32, 4) / 8,
                f"{name}.alpha": torch.tensor(4.0),
            }
    save_file(
        tensors,
        folder / "style.safetensors",
        metadata={"ss_network_module": "networks.lora", "ss_network_dim": "4", "ss_network_alpha": "4.0"},
    )
    return sum(each.numel() for name, each in tensors.items() if not name.endswith("alpha"))
