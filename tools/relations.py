"""Makes models of which it is known how they came about, and counts what `inspect diff --data` says of them.

    PYTHONPATH=. python tools/relations.py FOLDER --seeds 0-4              # those by which thresholds are chosen
    PYTHONPATH=. python tools/relations.py FOLDER --seeds 100-104          # held out

Needs torch and transformers. Small models are trained on the text of this repository, then trained on, merged with
adapters, freed of directions, merged with each other, cut, extended, rounded and damaged. `--model FOLDER` takes a
published model as the base instead. Prints a table of what each was and what it was called.
"""

from __future__ import annotations

import argparse
import copy
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import inspector

State = dict[str, torch.Tensor]
TEXT = "".join(path.read_text() for path in sorted(Path("docs").glob("*.md"))).encode()


def text_config(draw: np.random.Generator, family: str) -> dict[str, Any]:
    """A small configuration of a family."""
    heads, size = int(draw.choice([4, 6, 8])), int(draw.choice([16, 24, 32]))
    config = {
        "hidden_size": heads * size, "intermediate_size": int(heads * size * draw.choice([2, 3])),
        "num_hidden_layers": int(draw.integers(4, 9)), "num_attention_heads": heads, "num_key_value_heads": heads // 2,
        "vocab_size": 256, "max_position_embeddings": 128, "tie_word_embeddings": bool(draw.integers(2)),
    }  # fmt: skip
    if family == "mixtral":
        config |= {"num_local_experts": 6, "num_experts_per_tok": 2, "num_hidden_layers": 3}
    if family == "gpt2":
        config = {
            "n_embd": heads * size, "n_layer": config["num_hidden_layers"], "n_head": heads, "vocab_size": 256,
            "n_positions": 128,
        }  # fmt: skip
    return {"model_type": family, **config}


def model_of(config: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    values = {key: value for key, value in config.items() if key not in ("model_type", "architectures")}
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(config["model_type"], **values))


def train(model: Any, steps: int, rate: float, seed: int, only: str = "") -> None:
    """Train on random pieces of text, in place; `only` parameters with a word in their names."""
    draw = np.random.default_rng(seed)
    own = [each for name, each in model.named_parameters() if any(word in name for word in only.split("|"))]
    optimizer = torch.optim.AdamW(own, lr=rate, weight_decay=0.0)
    for _ in range(steps):
        starts = draw.integers(0, len(TEXT) - 65, 8)
        batch = torch.tensor(np.stack([np.frombuffer(TEXT[at : at + 64], np.uint8) for at in starts]).astype(np.int64))
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def loss_of(model: Any, batch: torch.Tensor) -> torch.Tensor:
    """That of the next token; of a model without a head, how alike two passes with dropout are (SimCSE)."""
    if hasattr(model, "lm_head"):
        found: torch.Tensor = model(input_ids=batch, labels=batch).loss
        return found
    model.train()
    one, other = (model(input_ids=batch).last_hidden_state.mean(1) for _ in "ab")
    alike = torch.nn.functional.cosine_similarity(one[:, None], other[None], dim=-1) / 0.05
    return torch.nn.functional.cross_entropy(alike, torch.arange(len(batch)))


def state_of(model: Any) -> State:
    found = {name: each.detach().clone().contiguous() for name, each in model.state_dict().items()}
    if getattr(model.config, "tie_word_embeddings", False):
        found.pop("lm_head.weight", None)
    return found


class Base:
    """A trained model with its configuration."""

    def __init__(self, config: Mapping[str, Any], seed: int, dtype: torch.dtype) -> None:
        torch.manual_seed(seed)
        self.config = {**config, "architectures": [_CLASSES[config["model_type"]]]}
        self.model = model_of(config)
        train(self.model, 40, 2e-3, seed)
        self.dtype, self.seed = dtype, seed
        self.state = cast(state_of(self.model), dtype)

    def tuned(self, steps: int, rate: float, seed: int, only: str = "") -> State:
        model = model_of(self.config)
        model.load_state_dict({name: each.float() for name, each in self.state.items()}, strict=False)
        train(model, steps, rate, seed, only)
        return cast(state_of(model), self.dtype)


class Published(Base):
    """A model of a folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        from transformers import AutoModel, AutoModelForCausalLM

        self.config = json.loads((folder / "config.json").read_text())
        causal = any("CausalLM" in each for each in self.config.get("architectures") or ())
        kind = AutoModelForCausalLM if causal else AutoModel
        self.model, self.seed = kind.from_pretrained(folder, dtype=torch.float32), seed
        own = load_file(next(folder.glob("*.safetensors")))
        self.dtype = max((each.dtype for each in own.values()), key=[each.dtype for each in own.values()].count)
        self.state = cast(state_of(self.model), self.dtype)

    def tuned(self, steps: int, rate: float, seed: int, only: str = "") -> State:
        model = copy.deepcopy(self.model)
        train(model, max(2, steps // 10), rate, seed, only)
        return cast(state_of(model), self.dtype)


_CLASSES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "gpt2": "GPT2LMHeadModel",
}


def cast(state: State, dtype: torch.dtype) -> State:
    return {name: each.to(dtype) if each.is_floating_point() else each for name, each in state.items()}


def matrices(state: State, words: str) -> list[str]:
    return [name for name, each in state.items() if each.dim() == 2 and any(word in name for word in words.split("|"))]


def with_adapter(state: State, words: str, rank: int, scale: float, draw: torch.Generator) -> State:
    """A LoRA of random numbers with a decaying spectrum, merged in F32."""
    found = dict(state)
    for name in matrices(state, words):
        own = state[name].float()
        up, down = torch.randn(own.shape[0], rank, generator=draw), torch.randn(rank, own.shape[1], generator=draw)
        change = (up * torch.linspace(1, 0.3, rank)) @ down
        found[name] = (own + change * (scale * own.norm() / change.norm())).to(state[name].dtype)
    return found


def without_direction(state: State, words: str, draw: torch.Generator, *, each_layer: bool, share: float) -> State:
    """A direction removed from what matrices add to the residual stream, as in abliteration."""
    found, vectors = dict(state), dict[str, torch.Tensor]()
    for name in matrices(state, words):
        own = state[name].float()
        conv = "c_proj" in name
        size = own.shape[1] if conv or "embed" in name or "wte" in name else own.shape[0]
        layer = next((part for part in name.split(".") if part.isdigit()), "") if each_layer else ""
        if layer not in vectors:
            vector = torch.randn(size, generator=draw)
            vectors[layer] = vector / vector.norm()
        r = vectors[layer]
        turned = (
            own @ r[:, None] * r[None]
            if size == own.shape[1] and (conv or "embed" in name)
            else r[:, None] * (r @ own)[None]
        )
        found[name] = (own - share * turned).to(state[name].dtype)
    return found


def merged(base: State, a: State, b: State, method: str, draw: torch.Generator) -> State:
    """Two fine-tunes merged, by mergekit's definitions."""
    found = {}
    for name, own in base.items():
        x, y, z = a[name].float(), b[name].float(), own.float()
        if method == "linear":
            made = 0.6 * x + 0.4 * y
        elif method == "slerp":
            cosine = (x.flatten() @ y.flatten() / (x.norm() * y.norm())).clamp(-1, 1)
            angle = torch.acos(cosine)
            made = (
                (torch.sin(0.4 * angle) * x + torch.sin(0.6 * angle) * y) / torch.sin(angle)
                if angle > 1e-4
                else (0.4 * x + 0.6 * y)
            )
        elif method == "task":
            made = z + 0.7 * (x - z) + 0.5 * (y - z)
        elif method == "ties":
            made = z + ties(x - z, y - z)
        else:
            kept = [torch.rand(z.shape, generator=draw) < 0.5 for _ in "ab"]
            made = z + 0.5 * ((x - z) * kept[0] / 0.5 + (y - z) * kept[1] / 0.5)
        found[name] = made.to(own.dtype)
    return found


def ties(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Trim to the largest half, elect signs, average those that agree."""
    kept = [each * (each.abs() >= each.abs().flatten().median()) for each in (x, y)]
    sign = torch.sign(kept[0] + kept[1])
    agree = [each * (torch.sign(each) == sign) for each in kept]
    count = sum((each != 0).float() for each in agree)
    return (agree[0] + agree[1]) / torch.clamp(count, min=1)


def relabelled(state: State, kept: list[int]) -> State:
    """Only some layers, or some more than once, numbered again."""
    found = {}
    for name, each in state.items():
        parts = name.split(".")
        at = next((at for at, part in enumerate(parts) if part.isdigit()), None)
        if at is None:
            found[name] = each
            continue
        for new, old in enumerate(kept):
            if int(parts[at]) == old:
                found[".".join([*parts[:at], str(new), *parts[at + 1 :]])] = each.clone()
    return found


Made = tuple[str, str, State, dict[str, Any]]


def strangers(base: Base) -> Iterator[Made]:
    """Models of the same shapes, and of the same sizes and singular values."""
    more = torch.Generator().manual_seed(base.seed)
    drawn = {
        name: torch.randn(each.shape, generator=more) * each.float().std() if each.dim() > 1 else each.float()
        for name, each in base.state.items()
    }
    yield "unrelated", "drawn, its vectors shared", cast(drawn, base.dtype), {}
    turned = dict(drawn)
    for name, each in base.state.items():
        if each.dim() == 2 and min(each.shape) <= 512:
            turn = torch.linalg.qr(torch.randn(min(each.shape), min(each.shape), generator=more))[0]
            turned[name] = each.float() @ turn if each.shape[1] <= each.shape[0] else turn @ each.float()
    yield "unrelated", "turned in every matrix", cast(turned, base.dtype), {}
    mixed = {
        name: each.float().flatten()[torch.randperm(each.numel(), generator=more)].reshape(each.shape)
        if each.dim() > 1 else each
        for name, each in base.state.items()
    }  # fmt: skip
    yield "unrelated", "its numbers in another order", cast(mixed, base.dtype), {}


def cases(base: Base, draw: np.random.Generator, other: Base | None) -> Iterator[Made]:
    """What became of the base, what it is called, its tensors, and changes of its configuration."""
    yield from copies(base)
    yield from tunings(base, draw)
    yield from adapters(base, draw)
    yield from directions(base)
    yield from merges(base)
    yield from cuts(base, draw)
    yield from damages(base.state, draw)
    yield from strangers(base)
    if other is not None:
        yield "unrelated", "another seed", other.state, {}
    if base.config["model_type"] == "mixtral":
        yield from experts(base.state, draw)


def copies(base: Base) -> Iterator[Made]:
    state = base.state
    yield "identical", "copy", state, {}
    yield "same_values", "in two files", state, {"files": 2}
    if base.dtype != torch.float32:
        yield "same_values", "in F32", cast(state, torch.float32), {}
    else:
        yield from (("rounded", str(dtype), cast(state, dtype), {}) for dtype in (torch.float16, torch.bfloat16))


def tunings(base: Base, draw: np.random.Generator) -> Iterator[Made]:
    state, seed, layers = base.state, base.seed, depth(base)
    for steps, rate in ((2, 1e-5), (20, 2e-5), (30, 2e-4), (60, 1e-3)):
        tuned = base.tuned(steps, rate * float(draw.uniform(0.5, 2)), seed + steps)
        if any(not torch.equal(tuned[name], state[name]) for name in state):
            yield "finetuned", f"{steps} steps at {rate}", tuned, {}
            if rate > 1e-4:
                yield "finetuned", f"{steps} steps at {rate}, in F16", cast(tuned, torch.float16), {}
    last = "|".join(f".{layer}." for layer in range(layers // 2, layers))
    yield "finetuned", "half of the layers", base.tuned(30, 2e-4, seed + 1, last), {}
    yield "finetuned", "attention only", base.tuned(30, 2e-4, seed + 2, "attn|attention"), {}
    yield "finetuned", "norms only", base.tuned(30, 1e-3, seed + 9, "norm|ln_|LayerNorm"), {}
    grown, more = dict(base.tuned(20, 2e-4, seed + 3)), torch.Generator().manual_seed(seed)
    for name in EMBEDDINGS:
        if name in grown:
            own = grown[name]
            grown[name] = torch.cat([own, torch.randn(16, own.shape[1], generator=more).to(own.dtype) * 0.02])
    yield "finetuned", "vocabulary extended", grown, {"vocab_size": base.config["vocab_size"] + 16}


EMBEDDINGS = (
    "transformer.wte.weight",
    "model.embed_tokens.weight",
    "lm_head.weight",
    "embeddings.word_embeddings.weight",
)


def depth(base: Base) -> int:
    return int(base.config.get("num_hidden_layers") or base.config["n_layer"])


TARGETS = (
    "q_proj|v_proj|c_attn|query|value", "proj|c_attn|c_fc|dense|query", "o_proj|down_proj|c_proj|output.dense",
    "down_proj|gate_proj|c_fc|intermediate",
)  # fmt: skip


def adapters(base: Base, draw: np.random.Generator) -> Iterator[Made]:
    more = torch.Generator().manual_seed(base.seed)
    for rank in (1, 2, 8, 16):
        words = str(draw.choice(TARGETS))
        if matrices(base.state, words):
            scale = float(draw.uniform(0.01, 0.2))
            made = with_adapter(cast(base.state, torch.float32), words, rank, scale, more)
            yield "adapter_merged", f"rank {rank} in {words}, {scale:.3f}", cast(made, base.dtype), {}


OUTPUTS = "o_proj|down_proj|c_proj|output.dense"


def directions(base: Base) -> Iterator[Made]:
    more = torch.Generator().manual_seed(base.seed)
    for each_layer, share, words in (
        (False, 1.0, OUTPUTS), (False, 0.7, OUTPUTS + "|embed_tokens"), (True, 1.0, OUTPUTS), (False, 1.0, "o_proj|attn.c_proj|attention.output.dense"),
    ):  # fmt: skip
        made = without_direction(cast(base.state, torch.float32), words, more, each_layer=each_layer, share=share)
        what = f"{words}, {'each layer' if each_layer else 'one'}, {share}"
        yield "direction_removed", what, cast(made, base.dtype), {}


def merges(base: Base) -> Iterator[Made]:
    a, b = base.tuned(30, 2e-4, base.seed + 5), base.tuned(30, 3e-4, base.seed + 6)
    more = torch.Generator().manual_seed(base.seed)
    for method in ("linear", "slerp", "task", "ties", "dare"):
        yield "finetuned", f"{method} merge of fine-tunes", merged(base.state, a, b, method, more), {}


def cuts(base: Base, draw: np.random.Generator) -> Iterator[Made]:
    layers = depth(base)
    field = "num_hidden_layers" if "num_hidden_layers" in base.config else "n_layer"
    gone = sorted(draw.choice(layers, int(draw.integers(1, layers // 2 + 1)), replace=False).tolist())
    kept = [each for each in range(layers) if each not in gone]
    yield "pruned", f"without layers {gone}", relabelled(base.state, kept), {field: len(kept)}
    tuned = base.tuned(30, 2e-4, base.seed + 7)
    yield "pruned", "the same, trained further", relabelled(tuned, kept), {field: len(kept)}
    doubled = [*range(layers * 3 // 4), *range(layers // 4, layers)]
    yield "extended", f"layers {doubled}", relabelled(base.state, doubled), {field: len(doubled)}


def experts(state: State, draw: np.random.Generator) -> Iterator[Made]:
    kept = sorted(draw.choice(6, 4, replace=False).tolist())
    found = {name: each[kept] if each.dim() > 0 and each.shape[0] == 6 else each for name, each in state.items()}
    yield "pruned", f"experts {kept} kept", found, {"num_local_experts": 4}


def damages(state: State, draw: np.random.Generator) -> Iterator[Made]:
    big = [name for name, each in state.items() if each.dim() == 2 and each.numel() > 4096]
    for what in ("bit", "bit", "zeros", "noise", "tensor", "nan", "shifted"):
        name = str(draw.choice(big))
        own = state[name].clone()
        flat = own.flatten()
        size = flat.numel()
        start, length = int(draw.integers(0, size // 2)), int(draw.integers(64, size // 2))
        if what == "bit":
            width = flat.element_size()
            raw = flat.view({2: torch.int16, 4: torch.int32}[width])
            bit = int(draw.integers(0, width * 8 - 1))
            raw[start] ^= 1 << bit
        elif what == "zeros":
            flat[start : start + length] = 0
        elif what == "noise":
            std = float(flat.float().std())
            flat[start : start + length] = (
                torch.randn(length, generator=torch.Generator().manual_seed(start)) * std
            ).to(flat.dtype)
        elif what == "tensor":
            flat[:] = 0
        elif what == "nan":
            flat[start : start + 4] = float("nan")
        else:
            flat[start : start + length] = flat[start : start + length].roll(7)
        yield "damaged", f"{what} in {name}", {**state, name: flat.reshape(own.shape)}, {}


def save(folder: Path, state: State, config: Mapping[str, Any]) -> Path:
    """A model's folder, replaced if it exists."""
    config = dict(config)
    files = config.pop("files", 1)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    state = {name: each.contiguous() for name, each in state.items()}
    if files == 1:
        save_file(state, folder / "model.safetensors")
    else:
        names, index = sorted(state), dict[str, str]()
        for at in range(files):
            file = f"model-{at + 1:05}-of-{files:05}.safetensors"
            part = names[at::files]
            save_file({name: state[name] for name in part}, folder / file)
            index |= dict.fromkeys(part, file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def loaded(folder: Path) -> tuple[dict[str, Any], State]:
    return json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")


def made_bases(draw: np.random.Generator, seed: int, folder: Path | None) -> tuple[Base, Base | None]:
    """A base and a stranger of its shapes; a published model has none."""
    if folder is not None:
        return Published(folder, seed), None
    family = str(draw.choice(["llama", "qwen2", "gpt2", "mixtral"]))
    dtype = [torch.float32, torch.bfloat16, torch.float16][int(draw.integers(3))]
    config = text_config(draw, family)
    return Base(config, seed, dtype), Base(config, seed + 50_000, dtype)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="0-2")
    parser.add_argument("--only", default="")
    parser.add_argument("--model", type=Path, help="a published model's folder")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    table = Counter[tuple[str, str]]()
    torch.set_num_threads(1)
    for seed in range(first, last + 1):
        draw = np.random.default_rng(seed)
        base, other = made_bases(draw, seed, given.model)
        family, dtype = base.config["model_type"], base.dtype
        own = save(given.folder / f"{seed}-base", base.state, base.config)
        for kind, what, state, changes in cases(base, draw, other):
            if given.only and given.only not in kind + what:
                continue
            made = save(given.folder / f"{seed}-made", state, {**base.config, **changes})
            reported = inspector.diff(own, made, data=True).relation
            assert reported is not None
            table[kind, reported.kind] += 1
            if kind != reported.kind:
                print(f"{seed} {family} {dtype} {kind}: {what}: {reported}", flush=True)
    total = sum(table.values())
    right = sum(number for (kind, called), number in table.items() if kind == called)
    for (kind, called), number in sorted(table.items()):
        print(f"{kind:20} {called:20} {number:5}{'' if kind == called else '  <'}")
    print(f"{right} of {total} right ({100 * right / max(total, 1):.1f} %)")


if __name__ == "__main__":
    main()
