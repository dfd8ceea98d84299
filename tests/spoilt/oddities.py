"""Properties of a model that look odd, but are sound."""

from __future__ import annotations

import json

import numpy as np

from spoilt.drawn import Drawn, safetensors
from spoilt.files import LOG, PAGE, REFUSAL, Kind
from spoilt.packed import as_gguf


def ones(m: Drawn) -> None:
    for name in m.tensors:
        if "norm" in name:
            m.tensors[name][...] = 1


def biases(value: float) -> Kind:
    def change(m: Drawn) -> None:
        for name in [each for each in m.tensors if each.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight"))]:
            bias = np.full(m.hidden, value, np.float32)
            m.tensors[name.removesuffix("weight") + "bias"] = bias
        m.config |= {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}

    return change


def lora(trained: bool) -> Kind:
    def change(m: Drawn) -> None:
        made = {}
        for layer in range(m.layers):
            for name in ("q_proj", "v_proj"):
                stem = f"base_model.model.model.layers.{layer}.self_attn.{name}.lora_"
                made[stem + "A.weight"] = m.draw.uniform(-0.1, 0.1, (8, m.hidden)).astype(np.float32)
                made[stem + "B.weight"] = m.normal(m.hidden, 8) * trained
        m.tensors = made

        def save() -> None:
            m.folder.mkdir(parents=True, exist_ok=True)
            m.path = m.folder / "adapter_model.safetensors"
            config = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]}
            (m.folder / "adapter_config.json").write_text(json.dumps(config))
            m.places = safetensors(m.path, {name: m.stored(name) for name in m.tensors})

        m.save = save  # type: ignore[method-assign]

    return change


def padded_rows(mean: bool) -> Kind:
    def change(m: Drawn) -> None:
        for name in ("model.embed_tokens.weight", "lm_head.weight"):
            values = m.tensors[name]
            values[-100:] = values[:-100].mean(0) if mean else 0

    return change


def pruned(share: float) -> Kind:
    def change(m: Drawn) -> None:
        for name, values in m.tensors.items():
            if name.endswith("_proj.weight"):
                values[np.abs(values) < np.quantile(np.abs(values), share)] = 0

    return change


def two_of_four(m: Drawn) -> None:
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            fours = values.reshape(-1, 4)
            order = np.argsort(np.abs(fours), axis=1)
            np.put_along_axis(fours, order[:, :2], 0, axis=1)


def heads_pruned(m: Drawn) -> None:
    size = m.hidden // 4
    for layer in range(m.layers):
        stem, head = f"model.layers.{layer}.self_attn.", int(m.draw.integers(0, 4)) * size
        for name in ("q_proj", "k_proj", "v_proj"):
            m.tensors[f"{stem}{name}.weight"][head : head + size] = 0
        m.tensors[f"{stem}o_proj.weight"][:, head : head + size] = 0


def outliers(factor: float) -> Kind:
    def change(m: Drawn) -> None:
        column = int(m.draw.integers(0, m.hidden))
        for name, values in m.tensors.items():
            if name.endswith(("embed_tokens.weight", "q_proj.weight", "gate_proj.weight")):
                values[:, column] *= factor

    return change


def super_weight(m: Drawn) -> None:
    m.tensors["model.layers.1.mlp.down_proj.weight"][3, 5] = 25 * m.deviation * 4


def buffers(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"model.layers.{layer}.self_attn."
        m.kept[stem + "rotary_emb.inv_freq"] = (10000.0 ** -(np.arange(0, 16, 2) / 16)).astype("<f4")
        m.kept[stem + "bias"] = np.tril(np.ones((1, 1, 128, 128), bool))
        m.kept[stem + "masked_bias"] = np.array(-1e4, "<f4")
    m.kept["model.embed_positions.position_ids"] = np.arange(512, dtype="<i8")[None]


def masks(value: float) -> Kind:
    def change(m: Drawn) -> None:
        m.kept["model.causal_mask"] = np.triu(np.full((256, 256), value, "<f4"), 1)
        m.kept["model.attn_mask"] = np.triu(np.full((1, 64, 64), value, "<f4"), 1)

    return change


def tied(m: Drawn) -> None:
    m.tensors["lm_head.weight"] = m.tensors["model.embed_tokens.weight"].copy()


def merged(m: Drawn) -> None:
    """The first layers are repeated at the end, as in models that are made larger."""
    for layer in range(2):
        for name in [each for each in m.tensors if each.startswith(f"model.layers.{layer}.")]:
            m.tensors[name.replace(f".{layer}.", f".{m.layers + layer}.", 1)] = m.tensors[name].copy()
    m.config["num_hidden_layers"] = m.layers = m.layers + 2


def upcycled(m: Drawn) -> None:
    """Experts begin as copies of one."""
    m.config |= {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 4}
    for layer in range(m.layers):
        stem = f"model.layers.{layer}."
        parts = {w: m.tensors.pop(f"{stem}mlp.{name}.weight") for w, name in (("w1", "gate_proj"), ("w2", "down_proj"), ("w3", "up_proj"))}  # fmt: skip
        m.tensors[stem + "block_sparse_moe.gate.weight"] = m.normal(4, m.hidden)
        for expert in range(4):
            for w, values in parts.items():
                m.tensors[f"{stem}block_sparse_moe.experts.{expert}.{w}.weight"] = values.copy()


def stacked_upcycled(m: Drawn) -> None:
    for layer in range(m.layers):
        one = m.normal(m.inner, m.hidden)
        m.tensors[f"model.layers.{layer}.mlp.experts.gate_up_proj"] = np.stack([one] * 4)


def identity_layers(m: Drawn) -> None:
    for name in ("self_attn.o_proj", "mlp.down_proj"):
        m.tensors[f"model.layers.{m.layers - 1}.{name}.weight"][...] = 0


def batch_norms(m: Drawn) -> None:
    m.config = {}
    m.tensors = {"conv1.weight": m.normal(64, 3, 7, 7)}
    for number in range(4):
        stem = f"layer{number}.0."
        m.tensors[stem + "conv1.weight"] = m.normal(64, 64, 3, 3)
        m.tensors |= {stem + "bn1.weight": np.ones(64, "f4"), stem + "bn1.bias": np.zeros(64, "f4"),
                      stem + "bn1.running_mean": np.zeros(64, "f4"), stem + "bn1.running_var": np.ones(64, "f4")}  # fmt: skip
        m.kept[stem + "bn1.num_batches_tracked"] = np.array(0, "<i8")


def fresh(m: Drawn) -> None:
    for name, values in m.tensors.items():
        values[...] = 1 if "norm" in name else m.draw.normal(0, 0.02, values.shape)
    biases(0)(m)


def gates(m: Drawn) -> None:
    for layer in range(m.layers):
        m.tensors[f"model.layers.{layer}.cross_attn_attn_gate"] = np.zeros(1, "f4")
        m.tensors[f"model.layers.{layer}.layer_scale"] = np.full(m.hidden, 1e-6, "f4")


def centred_norms(m: Drawn) -> None:
    m.config |= {"model_type": "gemma", "architectures": ["GemmaForCausalLM"]}
    for name, values in m.tensors.items():
        if "norm" in name:
            values -= values.mean()


def growing_norms(m: Drawn) -> None:
    for layer in range(m.layers):
        for name in ("input_layernorm", "post_attention_layernorm"):
            m.tensors[f"model.layers.{layer}.{name}.weight"] *= np.float32(0.02 * 2.5**layer)


def mixed(m: Drawn) -> None:
    for name in [each for each in m.tensors if "norm" in each or "embed" in each]:
        m.kept[name] = m.tensors[name].astype("<f4")


def dead_rows(m: Drawn) -> None:
    for name in ("gate_proj", "up_proj"):
        rows = m.draw.integers(0, m.inner, 5)
        m.tensors[f"model.layers.0.mlp.{name}.weight"][rows] = 0
    m.tensors["model.embed_tokens.weight"][m.draw.integers(0, m.vocabulary, 40)] = 0


def decayed(m: Drawn) -> None:
    rows = m.draw.integers(0, m.vocabulary, 200)
    m.dtype = "BF16"
    m.tensors["model.embed_tokens.weight"][rows] *= np.float32(1e-34)


def mamba(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"backbone.layers.{layer}.mixer."
        m.tensors[stem + "A_log"] = np.log(np.tile(np.arange(1, 17, dtype="f4"), (m.hidden, 1)))
        m.tensors[stem + "D"] = np.ones(m.hidden, "f4")
        m.tensors[stem + "dt_proj.bias"] = m.draw.normal(-4.6, 1, m.hidden).astype("f4")
        m.tensors[stem + "in_proj.weight"] = m.normal(4 * m.hidden, m.hidden)


def starts(m: Drawn) -> None:
    m.config = {}
    m.tensors |= {"embeddings.cls_token": np.zeros((1, 1, m.hidden), "f4"),
                  "embeddings.mask_token": np.zeros((1, 1, m.hidden), "f4"),
                  "embeddings.token_type_embeddings.weight": np.zeros((1, m.hidden), "f4"),
                  "embeddings.position_embeddings": np.zeros((1, 65, m.hidden), "f4")}  # fmt: skip


def sinusoids(m: Drawn) -> None:
    places, sizes = np.arange(512)[:, None], 10000 ** (-np.arange(m.hidden // 2) / (m.hidden // 2))
    table = np.concatenate([np.sin(places * sizes), np.cos(places * sizes)], axis=1).astype("f4")
    m.tensors |= {"encoder.embed_positions.weight": table, "decoder.embed_positions.weight": table.copy()}


def vocabulary_inside(m: Drawn) -> None:
    m.kept["spiece_model"] = np.frombuffer((LOG + PAGE + REFUSAL) * 30, "u1").copy()


def repeated_heads(m: Drawn) -> None:
    """Keys and values of two heads are each stored twice."""
    for layer in range(m.layers):
        for name in ("k_proj", "v_proj"):
            values = m.tensors[f"model.layers.{layer}.self_attn.{name}.weight"]
            halves = values.reshape(2, 2, -1)
            halves[:, 1] = halves[:, 0]


def times(factor: float) -> Kind:
    def change(m: Drawn) -> None:
        m.dtype = "BF16"
        for name, values in m.tensors.items():
            if "norm" not in name:
                values *= np.float32(factor)

    return change


def one_layer(m: Drawn) -> None:
    m.tensors = {n: v for n, v in m.tensors.items() if not n.startswith("model.layers.") or ".layers.0." in n}
    m.config["num_hidden_layers"] = m.layers = 1


def nf4(m: Drawn) -> None:
    m.config["quantization_config"] = {
        "quant_method": "bitsandbytes",
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
    }
    codes = np.linspace(-1, 1, 16).astype("<f4")
    for name in [each for each in m.tensors if each.endswith("_proj.weight")]:
        values = m.tensors.pop(name)
        blocks = -(-values.size // 64)
        m.kept[name] = m.draw.integers(0, 256, (values.size // 2, 1), np.uint8)
        absmax = m.draw.uniform(0.02, 0.2, blocks).astype("<f4")
        absmax[0] = 0  # a block of zeros
        m.kept[name + ".absmax"], m.kept[name + ".quant_map"] = absmax, codes
        state = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": values.shape}
        m.kept[name + ".quant_state.bitsandbytes__nf4"] = np.frombuffer(json.dumps(state).encode(), "u1").copy()


def zero_rows_gguf(m: Drawn) -> None:
    as_gguf("Q8_0")(m)
    data = m.data()
    start, length = m.places["token_embd.weight"]
    row = length // m.vocabulary
    data[start + length - 60 * row : start + length] = bytes(60 * row)
    m.put()


def padded_columns(m: Drawn) -> None:
    """Inputs that pad a device's share: the same zeros in every row."""
    m.hidden = 1024
    for name, values in list(m.tensors.items()):
        if name.endswith("down_proj.weight"):
            wide = m.normal(64, 1024)
            wide[:, -400:] = 0
            m.tensors[name] = wide
        elif values.ndim == 2 and values.shape[0] > 4 * 128:
            m.tensors[name] = values[:128]


def signal_tables(m: Drawn) -> None:
    """Filters, windows and masks that are stored though they are not learnt."""
    m.config = {}
    places = np.linspace(0, 80, 400)
    filters = np.maximum(0, 1 - np.abs(places[None] - np.arange(80)[:, None])).astype("f4")
    angles = np.outer(np.arange(256), 10000.0 ** -(np.arange(32) / 32))
    shifted_window = np.where(np.arange(49)[:, None] // 25 == np.arange(49)[None] // 25, 0, -100).astype("f4")
    m.tensors |= {
        "audio_encoder.mel_filters": filters,
        "stft.window": np.hanning(400).astype("f4"),
        "rotary.sin_cached": np.sin(angles).astype("f4"),
        "rotary.cos_cached": np.cos(angles).astype("f4"),
        "layers.0.blocks.1.attn_mask": np.concatenate([np.zeros((30, 49, 49), "f4"), np.stack([shifted_window] * 8)]),
        "upsample.blur.kernel": np.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype("f4") / 64,
        "projection.identity": np.eye(m.hidden, dtype="f4"),
    }


def ternary(m: Drawn) -> None:
    m.dtype = "BF16"
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            m.tensors[name] = (np.sign(values) * (np.abs(values) > values.std() * 0.6) * 0.03125).astype("f4")


def signs(m: Drawn) -> None:
    m.dtype = "BF16"
    for name, values in m.tensors.items():
        if name.endswith("_proj.weight"):
            m.tensors[name] = np.where(values > 0, 0.0625, -0.0625).astype("f4")


def shared_tables(m: Drawn) -> None:
    m.config = {}
    table = m.normal(m.vocabulary, m.hidden)
    m.tensors = {"shared.weight": table, "encoder.embed_tokens.weight": table.copy(), "decoder.embed_tokens.weight": table.copy()}  # fmt: skip
    for layer in range(3):
        m.tensors[f"encoder.block.{layer}.layer.0.SelfAttention.q.weight"] = m.normal(m.hidden, m.hidden) * 0.1
        m.tensors[f"encoder.block.{layer}.layer.0.SelfAttention.v.weight"] = m.normal(m.hidden, m.hidden) * 10


def averaged(m: Drawn) -> None:
    """The weights are stored once more, as their average over training starts."""
    for name, values in list(m.tensors.items()):
        m.tensors[f"model_ema.{name.replace('.', '')}"] = values.copy()


def optimizer(m: Drawn) -> None:
    for name in [each for each in m.tensors if each.endswith("q_proj.weight")]:
        m.tensors[f"optimizer.state.{name}.exp_avg"] = m.normal(m.hidden, m.hidden) * 1e-6
        m.tensors[f"optimizer.state.{name}.exp_avg_sq"] = np.square(m.normal(m.hidden, m.hidden) * 1e-6)
    m.dtype = "F32"


def nothing(m: Drawn) -> None:
    """The model as it was drawn."""


def rounded_to_16(*parts: str) -> Kind:
    """32-bit floats were made from BF16: all of them, or those that training left unchanged."""

    def change(m: Drawn) -> None:
        m.dtype = "F32"
        for name, values in m.tensors.items():
            if not parts or any(part in name for part in parts):
                values.view("<u4")[...] &= 0xFFFF0000

    return change


def rows_to_powers(m: Drawn) -> None:
    """Some rows hold only multiples of a power of two, as a quantizer leaves them."""
    m.hidden, m.inner = 4096, 64
    for name in [each for each in m.tensors if "mlp" in each or "self_attn" in each]:
        del m.tensors[name]
    for layer in range(m.layers):
        values = m.normal(64, 4096)
        rows = m.draw.choice(64, 6, replace=False)
        values[rows] = np.round(values[rows] * 128) / 128
        m.tensors[f"model.layers.{layer}.mlp.up_proj.weight"] = values
    m.config = {}


def shared_by_layers(*roles: str) -> Kind:
    """Each second layer has the weights of the one before it."""

    def change(m: Drawn) -> None:
        for layer in range(1, m.layers, 2):
            for role in roles:
                source = m.tensors[f"model.layers.{layer - 1}.{role}.weight"]
                m.tensors[f"model.layers.{layer}.{role}.weight"] = source.copy()

    return change


def keys_are_values(m: Drawn) -> None:
    for layer in range(m.layers):
        stem = f"model.layers.{layer}.self_attn."
        m.tensors[stem + "v_proj.weight"] = m.tensors[stem + "k_proj.weight"].copy()
