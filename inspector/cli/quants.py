"""`inspect quants`: which quantization to take for a device."""

from __future__ import annotations

from typing import Any

import click

from inspector.cli.options import FORMS, WIDE, output_options
from inspector.cli.output import Output


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
    result = api.quants(api.sized(target, **files), **options)
    output.show(
        lambda: report.lines(result, everything=everything),
        lambda: report.document(result),
        lambda: report.rows(result),
        titled=True,
    )
