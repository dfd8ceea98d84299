"""MGP-STR: text in scenes, read letter by letter, by BPE and by word pieces at once."""

from __future__ import annotations

from inspector.architectures.table import Family, Row

LAYER = "mgp_str.encoder.blocks.{layer<num_hidden_layers}"

FAMILY = Family(
    name="mgp-str",
    types={"mgp-str": {}},
    rows=(
        Row("embed_class", "mgp_str.embeddings.cls_token", "1, 1, hidden_size", leaf=""),
        Row(
            "embed_positions",
            "mgp_str.embeddings.pos_embed",
            "1, (image_size[0] // patch_size) * (image_size[1] // patch_size) + (2 if distilled else 1), hidden_size",
            leaf="",
        ),
        Row(
            "proj",
            "mgp_str.embeddings.proj",
            "hidden_size, num_channels, patch_size, patch_size",
            bias="True",
            group="embedding",
        ),
        Row("input_layernorm", LAYER + ".norm1", "hidden_size", bias="True"),
        Row("qkv_proj", LAYER + ".attn.qkv", "3 * hidden_size, hidden_size", bias="qkv_bias"),
        Row("o_proj", LAYER + ".attn.proj", "hidden_size, hidden_size", bias="True"),
        Row("post_attention_layernorm", LAYER + ".norm2", "hidden_size", bias="True"),
        Row("up_proj", LAYER + ".mlp.fc1", "scaled(hidden_size, mlp_ratio), hidden_size", bias="True"),
        Row("down_proj", LAYER + ".mlp.fc2", "hidden_size, scaled(hidden_size, mlp_ratio)", bias="True"),
        Row(
            "tokenLearner",
            "char_a3_module.tokenLearner.{layer<2}",
            "max_token_length if layer > 0 else hidden_size, 2 ** layer * 2 ** layer * (hidden_size * 2 ** layer // 8), 1, 1",
            group="convolution",
        ),
        Row(
            "bpe_a3_module_tokenLearner",
            "bpe_a3_module.tokenLearner.{layer<2}",
            "max_token_length if layer > 0 else hidden_size, 2 ** layer * 2 ** layer * (hidden_size * 2 ** layer // 8), 1, 1",
            group="convolution",
        ),
        Row(
            "wp_a3_module_tokenLearner",
            "wp_a3_module.tokenLearner.{layer<2}",
            "max_token_length if layer > 0 else hidden_size, 2 ** layer * 2 ** layer * (hidden_size * 2 ** layer // 8), 1, 1",
            group="convolution",
        ),
        Row("token_norm", "char_a3_module.token_norm", "hidden_size", bias="True"),
        Row("feat", "char_a3_module.feat", "hidden_size, hidden_size // 8, 1, 1", group="convolution"),
        Row("norm", "char_a3_module.norm", "hidden_size", bias="True"),
        Row("bpe_a3_module_token_norm", "bpe_a3_module.token_norm", "hidden_size", bias="True"),
        Row("bpe_a3_module_feat", "bpe_a3_module.feat", "hidden_size, hidden_size // 8, 1, 1", group="convolution"),
        Row("bpe_a3_module_norm", "bpe_a3_module.norm", "hidden_size", bias="True"),
        Row("wp_a3_module_token_norm", "wp_a3_module.token_norm", "hidden_size", bias="True"),
        Row("wp_a3_module_feat", "wp_a3_module.feat", "hidden_size, hidden_size // 8, 1, 1", group="convolution"),
        Row("wp_a3_module_norm", "wp_a3_module.norm", "hidden_size", bias="True"),
        Row("char_head", "char_head", "num_character_labels, hidden_size", bias="True"),
        Row("bpe_head", "bpe_head", "num_bpe_labels, hidden_size", bias="True"),
        Row("wp_head", "wp_head", "num_wordpiece_labels, hidden_size", bias="True"),
    ),
    prefix="mgp_str.",
    defaults={
        "distilled": False,
        "hidden_size": 768,
        "image_size": [32, 128],
        "max_token_length": 27,
        "mlp_ratio": 4.0,
        "num_bpe_labels": 50257,
        "num_channels": 3,
        "num_character_labels": 38,
        "num_hidden_layers": 12,
        "num_wordpiece_labels": 30522,
        "patch_size": 4,
        "qkv_bias": True,
    },
    head="ForSceneTextRecognition",
)
