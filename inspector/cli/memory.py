"""`inspect memory`: will it run, and how long a context fits; `inspect quants`: which quantization to take."""

from __future__ import annotations

from typing import Any

import click

from inspector.cli.console import refuse_several
from inspector.cli.options import FORMS, HTML, WIDE, output_options
from inspector.cli.output import Output
from inspector.errors import UsageError

MISFIT = 1  # exit code with --fits

_OPTIONS = (
    click.option(
        "--context", metavar="N", help="Tokens per sequence: 16384, 16k, …. By default the answer is over contexts."
    ),
    click.option("--sequences", default="1", metavar="S", help="Concurrent sequences; 1 by default."),
    click.option(
        "--cache-dtype",
        metavar="T",
        help="Type of keys and values: f16, q8_0, fp8, …; `q8_0,q4_0` sets them separately.",
    ),
    click.option(
        "--engine",
        metavar="E",
        help="transformers, llama.cpp (the default for GGUF; llama.cpp@9294 is a build) or vllm.",
    ),
    click.option("--weights", metavar="T", help="Assume that weights are loaded as int8, nf4, fp8, bf16, q4_k_m, …"),
    click.option("--source", metavar="N", help="Tokens of the encoder's input."),
    click.option("--batch", metavar="N", help="Tokens processed at once: --ubatch-size, prefill chunk."),
    click.option(
        "--flash-attention/--no-flash-attention", default=True, help="Whether llama.cpp uses it; it does by default."
    ),
    click.option("--mmproj", metavar="FILE", help="A vision tower that llama.cpp loads beside it."),
    click.option("--draft", metavar="FILE", help="A draft model that llama.cpp loads beside it."),
    click.option("--gpu", "--devices", metavar="D", help="rtx-4090, 4xh100, 24GiB, …; by default this machine's."),
    click.option("--fits", is_flag=True, help="Exit with 1 if it does not fit on the devices."),
    click.option("--full", is_flag=True, help="Exact bytes, each layer's cache, all findings and assumptions."),
    click.option("--tp", metavar="N", help="Devices that share each layer (tensor parallelism)."),
    click.option("--pp", metavar="N", help="Groups of devices that divide the layers."),
    click.option("--sweep", is_flag=True, help="A table of contexts and cache types."),
    click.option("--train", "method", metavar="HOW", help="full, lora or qlora: what training needs."),
    click.option("--lora", metavar="R", help="r=16,targets=q_proj+v_proj, or all-linear; or a folder with an adapter."),
    click.option("--optimizer", default="adamw", help="adamw, adamw-8bit, adafactor, sgd or muon."),
    click.option("--precision", default="mixed", help="mixed (a copy in 32 bits), bf16 or fp32."),
    click.option("--zero", type=int, default=0, metavar="0-3", help="ZeRO stage; 3 is FSDP."),
    click.option("--data-parallel", type=int, default=1, metavar="N", help="Devices that train together."),
    click.option("--checkpointing", is_flag=True, help="Recompute activations instead of keeping them."),
    click.option("--config", metavar="FILE", help="A config.json to use instead of the one beside the weights."),
    click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository."),
    click.option("--include", metavar="GLOB", help="Which weight files, if the target holds several checkpoints."),
    WIDE,
    HTML,
    *FORMS,
)


@click.command(short_help="Will it run, and how long a context fits?")
@click.argument("target")
@output_options(*_OPTIONS)
def memory(target: str, fits: bool, full: bool, sweep: bool, output: Output, **options: Any) -> None:
    """What a model needs to run or train: weights, cache, activations; does it fit, and how long a context fits?

    TARGET is anything with weights or a configuration: files, a folder, a repository (headers only), a GGUF, a
    config.json, a preset such as llama-7b. The output distinguishes exact figures from estimates.
    """
    from inspector import api
    from inspector.report import memory as report
    from inspector.sizing.verdict import verdict_of

    output.check()
    if fits and not options["gpu"]:
        raise UsageError("--fits needs devices: name them with --gpu")
    options["training"] = _plan(options)
    files = {name: options.pop(name) for name in ("config", "revision", "include")}
    refuse_several(target, **files)
    model = api.with_beside(api.sized(target, **files), options.pop("mmproj"), options.pop("draft"))
    result = api.memory(model, **options)
    swept = api.sweep(model, **options) if sweep else ()
    output.show(
        lambda: report.lines(result, swept, full=full),
        lambda: report.document(result, swept),
        lambda: report.rows(swept or (result,)),
    )
    output.write_page(lambda: report.page(result, swept))
    if fits and not verdict_of(result).fits:
        raise click.exceptions.Exit(MISFIT)


def _plan(options: dict[str, Any]) -> Any:
    """The training plan in the options, which are removed; None if there is none."""
    method, lora = options.pop("method"), options.pop("lora")
    words = {name: options.pop(name) for name in ("optimizer", "precision", "zero", "data_parallel", "checkpointing")}
    if not method and not lora:
        return None
    from inspector import api
    from inspector.sizing.training import Plan

    plan = Plan(method or "lora", zero=words.pop("zero"), devices=words.pop("data_parallel"), **words)
    return api.training_plan(plan, lora)


@click.command(short_help="Which quantization fits: the size of each, to the byte.")
@click.argument("target")
@click.option("--gpu", "--devices", metavar="D", help="rtx-4090, 2x24GiB, …: which of them fit.")
@click.option(
    "--context", metavar="N", help="Tokens per sequence: 16384, 16k, …; by default the model's own context length."
)
@click.option("--sequences", default="1", metavar="S", help="Concurrent sequences; 1 by default.")
@click.option("--cache-dtype", metavar="T", help="Type of llama.cpp's keys and values: f16 (the default), q8_0, ….")
@click.option("--imatrix", is_flag=True, help="As made with an importance matrix: a few types change.")
@click.option("--all", "everything", is_flag=True, help="List all, not only those that are commonly published.")
@click.option("--config", metavar="FILE", help="A config.json to use instead of the one beside the weights.")
@click.option("--revision", metavar="R", help="Branch, tag or commit of a Hub repository.")
@click.option("--include", metavar="GLOB", help="Which weight files, if the target holds several checkpoints.")
@output_options(WIDE, *FORMS)
def quants(target: str, everything: bool, output: Output, **options: Any) -> None:
    """What a model weighs in each quantization, and which of them fit a device. Nothing is written.

    TARGET is anything with weights in 16 or 32 bits, or a configuration: files, a folder, a repository (headers only),
    a GGUF, a config.json, a preset such as llama-7b. Each of llama.cpp's mixtures is computed tensor by tensor, as its
    quantizer chooses the types.
    """
    from inspector import api
    from inspector.report import quants as report

    output.check()
    files = {name: options.pop(name) for name in ("config", "revision", "include")}
    refuse_several(target, **files)
    result = api.quants(api.sized(target, **files), **options)
    output.show(
        lambda: report.lines(result, everything=everything),
        lambda: report.document(result),
        lambda: report.rows(result),
        titled=True,
    )
