"""Keras, JAX, MLX, GGUF: weights that are not PyTorch's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .small import output, outputs


def _keras(kind: str) -> Any:
    import keras

    if kind == "sequential":
        return keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    inputs = keras.Input((16, 16, 3))
    hidden = keras.layers.BatchNormalization()(keras.layers.Conv2D(8, 3, activation="relu")(inputs))
    hidden = keras.layers.Add()([hidden, keras.layers.Conv2D(8, 1)(hidden)])
    hidden = keras.ops.cast(hidden, "float32") if kind == "operations" else hidden
    return keras.Model(inputs, keras.layers.Dense(3)(keras.layers.GlobalAveragePooling2D()(hidden)))


def _keras_saved(folder: Path, kind: str = "functional", name: str = "model.keras", *, trained: bool = True) -> int:
    import numpy as np

    model = _keras(kind)
    if trained:
        model.compile(optimizer="adam", loss="mse", metrics=["mae"])
        shape = model.input_shape[1:]
        model.fit(np.random.rand(8, *shape), np.random.rand(8, model.output_shape[-1]), epochs=1, verbose=0)
    model.save_weights(folder / name) if name.endswith(".weights.h5") else model.save(folder / name)
    return int(model.count_params())


outputs(
    _keras_saved,
    keras_sequential={"kind": "sequential"},
    keras_functional={"trained": False},
    keras_functional_trained={},
    keras_operations={"kind": "operations"},
    keras_h5={"name": "model.h5"},
    keras_weights={"name": "model.weights.h5"},
)


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


#: Llama's sizes, for MLX.
MLX = {
    "model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 256, "num_attention_heads": 4,
    "rms_norm_eps": 1e-5, "vocab_size": 256, "num_key_value_heads": 2, "tie_word_embeddings": False,
}  # fmt: skip


@output
def mlx_quantized(folder: Path) -> int:
    import mlx.core as mx
    from mlx import nn
    from mlx.utils import tree_flatten
    from mlx_lm.models import llama as of_mlx

    model = of_mlx.Model(of_mlx.ModelArgs(**MLX))
    number = sum(value.size for _, value in tree_flatten(model.parameters()))
    nn.quantize(model, group_size=64, bits=4)
    mx.save_safetensors(
        str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), metadata={"format": "mlx"}
    )
    (folder / "config.json").write_text(
        json.dumps({**MLX, "architectures": ["LlamaForCausalLM"], "quantization": {"group_size": 64, "bits": 4}})
    )
    return int(number)


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
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(256)
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
