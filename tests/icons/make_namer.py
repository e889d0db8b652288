"""Makes the icon namer's network again: `make icon-namer`.

It fetches the sets of `sets.toml` from npm, draws them, trains a small network for the names of `vocabulary.toml`, and
writes `icons.onnx` and `names.txt` beside `vision_agent/vision/icons/namer.py`. It needs the packages of the group
`icons` in `pyproject.toml`, which the product does not. Its seeds are fixed; the order of additions in the processor is
not, so that another network comes out a little different. `make bench-icons` measures what came out.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent))
import icon_sets
from crops import no_icons, picture_of, repeated
from icon_sets import CACHE, Drawing

from vision_agent.vision.icons.glyph import SIDE, glyphs_in

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "vision_agent" / "vision" / "icons"
TIMES, MOST_OF_ONE, OTHERS_TIMES, NO_ICONS = 3, 9, 2, 5000
EPOCHS, BATCH, RATE, SMOOTHING = 4, 256, 4e-3, 0.05
FURTHER_EPOCHS, FURTHER_RATE = 7, 2e-3
LAYERS = ((16, 2), (48, 2), (96, 2), (96, 1))
"""Channels and stride of each convolution; one of stride 1 adds its answer to what it was given."""
HIDDEN = 192
SHRUNK = math.prod(stride for _, stride in LAYERS)
FLAT = LAYERS[-1][0] * (SIDE // SHRUNK) ** 2

_EPSILON = 1e-3

Parameters = dict[str, Any]


def learned() -> list[Drawing]:
    """The drawings that the network learns from."""
    found = []
    for name in icon_sets.sets("learned"):
        wanted = icon_sets.settings_of(name)
        if not wanted.get("checked"):
            left_out = tuple(f"-{style}" for style in wanted.get("held_out_styles", ()))
            found += [each for each in icon_sets.drawings(name) if not (left_out and each.icon.endswith(left_out))]
    return found


def samples(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Glyphs and the numbers of their names; 0 is no name."""
    random = np.random.default_rng(seed)
    numbers = {name: at + 1 for at, name in enumerate(icon_sets.names())}
    drawings = learned()
    named = repeated([each for each in drawings if each.name], TIMES, MOST_OF_ONE, random)
    others = repeated([each for each in drawings if not each.name and not each.is_near], OTHERS_TIMES, 0, random)
    glyphs, labels = [], []
    for each in [*named, *others]:
        for glyph in glyphs_in(picture_of(each.pixels, random)):
            glyphs.append(glyph)
            labels.append(numbers.get(each.name, 0))
    for picture in no_icons(NO_ICONS, random):
        for glyph in glyphs_in(picture):
            glyphs.append(glyph)
            labels.append(0)
    return np.stack(glyphs), np.array(labels)


def begun(count: int, seed: int) -> Parameters:
    """Parameters before training, for `count` answers. `g` and `b` scale and move what was normalised."""
    random = np.random.default_rng(seed)
    channels = [1, *(each for each, _ in LAYERS)]
    shapes = [(3, 3, came, gone) for came, gone in pairwise(channels)] + [(FLAT, HIDDEN), (HIDDEN, count)]
    found = {}
    for layer, shape in enumerate(shapes):
        is_last = layer == len(shapes) - 1
        found[f"w{layer}"] = random.normal(0, np.sqrt((1 if is_last else 2) / math.prod(shape[:-1])), shape)
        found[f"b{layer}"] = np.zeros(shape[-1])
        if not is_last:
            found[f"g{layer}"] = np.ones(shape[-1])
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def answers(p: Parameters, x: Any, dropped: Any) -> tuple[Any, dict[str, Any]]:
    """The logits of a batch of glyphs, 0 to 1, and the mean and variance of each layer.

    Convolutions and two layers, each but the last normalised over the batch, unless that is in the weights already.
    """
    x, seen = x[..., None], {}

    def normalised(x: Any, layer: int) -> Any:
        if f"g{layer}" not in p:
            return x + p[f"b{layer}"]
        axes = tuple(range(x.ndim - 1))
        mean, square = x.mean(axes), (x * x).mean(axes)
        seen[f"m{layer}"], seen[f"v{layer}"] = mean, square - mean * mean
        scale = p[f"g{layer}"] / jnp.sqrt(seen[f"v{layer}"] + _EPSILON)
        return x * scale + (p[f"b{layer}"] - mean * scale)

    for layer, (_, stride) in enumerate(LAYERS):
        convolved = jax.lax.conv_general_dilated(
            x, p[f"w{layer}"], (stride, stride), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        convolved = normalised(convolved, layer)
        x = jax.nn.relu(convolved + x if stride == 1 else convolved)
    layer = len(LAYERS)
    x = jax.nn.relu(normalised(x.reshape(len(x), -1) @ p[f"w{layer}"], layer)) * dropped
    return x @ p[f"w{layer + 1}"] + p[f"b{layer + 1}"], seen


def folded(p: Parameters, seen: dict[str, Any]) -> Parameters:
    """The same network with the normalisation in its weights."""
    if "g0" not in p:
        return {name: np.asarray(value) for name, value in p.items()}
    last = len(LAYERS) + 1
    found = {name: np.asarray(p[name]) for name in (f"w{last}", f"b{last}")}
    for layer in range(last):
        mean, variance = (np.asarray(seen[f"{kind}{layer}"]) for kind in "mv")
        scale = np.asarray(p[f"g{layer}"]) / np.sqrt(variance + _EPSILON)
        found[f"w{layer}"] = np.asarray(p[f"w{layer}"]) * scale
        found[f"b{layer}"] = np.asarray(p[f"b{layer}"]) - mean * scale
    return found


def train(p: Parameters, glyphs: np.ndarray, labels: np.ndarray, epochs: int, highest: float, seed: int) -> None:
    """Writes the network after each of these epochs; Adam, with a rate that falls to nothing."""
    random = np.random.default_rng(seed)
    state = jax.tree.map(lambda each: (jnp.zeros_like(each), jnp.zeros_like(each)), p)
    usual: dict[str, Any] = {}
    steps = epochs * (len(glyphs) // BATCH)

    def loss(p: Parameters, x: Any, y: Any, dropped: Any) -> tuple[Any, dict[str, Any]]:
        logits, seen = answers(p, x, dropped)
        said = jax.nn.log_softmax(logits)
        right = jnp.take_along_axis(said, y[:, None], 1)[:, 0]
        return -jnp.mean((1 - SMOOTHING) * right + SMOOTHING * said.mean(1)), seen

    @jax.jit
    def step(p: Parameters, state: Any, x: Any, y: Any, dropped: Any, at: Any) -> Any:
        (value, seen), slope = jax.value_and_grad(loss, has_aux=True)(p, x.astype(jnp.float32) / 255, y, dropped)
        rate = highest * jnp.minimum(1, at / 100) * 0.5 * (1 + jnp.cos(jnp.pi * at / steps))
        new_p, new_state = {}, {}
        for name in p:
            mean = 0.9 * state[name][0] + 0.1 * slope[name]
            square = 0.99 * state[name][1] + 0.01 * slope[name] ** 2
            by = (mean / (1 - 0.9**at)) / (jnp.sqrt(square / (1 - 0.99**at)) + 1e-8)
            decay = 2e-2 if name.startswith("w") else 0.0
            new_p[name] = p[name] - rate * (by + decay * p[name])
            new_state[name] = (mean, square)
        return new_p, new_state, value, seen

    at = 0
    for epoch in range(epochs):
        began, values = time.process_time(), []
        order = random.permutation(len(glyphs))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            at += 1
            x = np.stack([redrawn(each, random) for each in glyphs[chosen]])
            dropped = (random.random((BATCH, HIDDEN)) < 0.8).astype(np.float32) / 0.8
            p, state, value, seen = step(p, state, x, labels[chosen], dropped, jnp.float32(at))
            usual = seen if at == 1 else {name: 0.98 * usual[name] + 0.02 * seen[name] for name in seen}
            values.append(value)
            if at % 100 == 0:
                print(f"step {at} of {steps}: loss {float(value):.3f}", flush=True)
        loss_now = np.mean([float(each) for each in values])
        print(f"epoch {epoch + 1}: loss {loss_now:.3f}, {time.process_time() - began:.0f} s", flush=True)
        write(folded(p, usual))


def redrawn(glyph: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The glyph as another hand might have drawn it: turned, stretched, slanted, moved, bolder or thinner."""
    turn, slant = random.normal(0, 0.08), random.normal(0, 0.08)
    wide, high = random.uniform(0.82, 1.1, 2)
    matrix = np.array([[wide, slant - turn, 0], [turn, high, 0]], np.float32)
    middle = (SIDE - 1) / 2
    matrix[:, 2] = middle - matrix[:, :2] @ [middle, middle] + random.normal(0, 0.9, 2)
    drawn = cv2.warpAffine(glyph, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR)
    by = random.random()
    if by < 0.2:
        return np.asarray(cv2.dilate(drawn, np.ones((2, 2), np.uint8)))
    if by < 0.35:
        return np.asarray(cv2.GaussianBlur(drawn, (3, 3), 0))
    if by < 0.45 and drawn.mean() > 40:
        return np.asarray(cv2.erode(drawn, np.ones((2, 2), np.uint8)))
    return np.asarray(drawn)


def write(p: Parameters) -> None:
    """Writes the network and its names; after each epoch, so that a training can be looked at."""
    (OUT / "icons.onnx").write_bytes(as_onnx(p))
    (OUT / "names.txt").write_text("\n".join(icon_sets.names()) + "\n", encoding="utf-8")


def as_onnx(p: Parameters) -> bytes:
    """The network as a file of ONNX, for one or more glyphs: `glyphs` N×1×32×32 of 0 to 1, `sure` N×names."""
    nodes, weights = [], []

    def weight(name: str, value: np.ndarray) -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def node(kind: str, ins: Sequence[str], out: str, **settings: Any) -> str:
        nodes.append(helper.make_node(kind, [*ins], [out], **settings))
        return out

    came = "glyphs"
    for layer, (_, stride) in enumerate(LAYERS):
        w = weight(f"w{layer}", np.asarray(p[f"w{layer}"]).transpose(3, 2, 0, 1))
        ins = [came, w, weight(f"b{layer}", np.asarray(p[f"b{layer}"]))]
        gone = node("Conv", ins, f"c{layer}", kernel_shape=[3, 3], strides=[stride, stride], pads=[1, 1, 1, 1])
        if stride == 1:
            gone = node("Add", [gone, came], f"a{layer}")
        came = node("Relu", [gone], f"r{layer}")
    # The training has channels last, ONNX has them first.
    layer, side = len(LAYERS), SIDE // SHRUNK
    flat = np.asarray(p[f"w{layer}"]).reshape(side, side, -1, HIDDEN).transpose(2, 0, 1, 3).reshape(-1, HIDDEN)
    node("Flatten", [came], "flat")
    node("Gemm", ["flat", weight("flat_w", flat), weight("flat_b", np.asarray(p[f"b{layer}"]))], "hidden")
    node("Relu", ["hidden"], "shown")
    last = [weight("last_w", np.asarray(p[f"w{layer + 1}"])), weight("last_b", np.asarray(p[f"b{layer + 1}"]))]
    node("Gemm", ["shown", *last], "logits")
    node("Softmax", ["logits"], "sure", axis=1)
    shape = helper.make_tensor_value_info("glyphs", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])
    out = helper.make_tensor_value_info("sure", TensorProto.FLOAT, ["n", len(p[f"b{layer + 1}"])])
    graph = helper.make_graph(nodes, "icons", [shape], [out], weights)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="vision-agent"
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def crops(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples of a seed, kept for a second try."""
    made_from = b"".join((HERE / name).read_bytes() for name in ("vocabulary.toml", "sets.toml", "crops.py"))
    file = CACHE / f"samples-{seed}-{hashlib.sha256(made_from).hexdigest()[:8]}.npz"
    if not file.exists():
        glyphs, labels = samples(seed)
        np.savez(file, glyphs=glyphs, labels=labels)
    kept = np.load(file)
    print(f"{len(kept['labels'])} glyphs, {np.mean(kept['labels'] == 0):.0%} without a name", flush=True)
    return kept["glyphs"], kept["labels"]


def from_onnx() -> Parameters:
    """The parameters of the network that is there, to go on with."""
    model = onnx.load_from_string((OUT / "icons.onnx").read_bytes())
    found = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    side, layers = SIDE // SHRUNK, len(LAYERS)
    for layer in range(layers):
        found[f"w{layer}"] = found[f"w{layer}"].transpose(2, 3, 1, 0)
    flat = found.pop("flat_w").reshape(-1, side, side, HIDDEN).transpose(1, 2, 0, 3).reshape(FLAT, HIDDEN)
    found |= {f"w{layers}": flat, f"b{layers}": found.pop("flat_b")}
    found |= {f"w{layers + 1}": found.pop("last_w"), f"b{layers + 1}": found.pop("last_b")}
    return {name: jnp.asarray(value) for name, value in found.items()}


def main() -> None:
    """Writes the network and its names. With `--further` only the second part is done, on what is there."""
    cv2.setNumThreads(1)
    glyphs, labels = crops(0)
    if "--further" not in sys.argv:
        train(begun(len(icon_sets.names()) + 1, 2), glyphs, labels, EPOCHS, RATE, 1)
    # Without normalising over the batch any more: what is learned is what will be used.
    train(from_onnx(), glyphs, labels, FURTHER_EPOCHS, FURTHER_RATE, 3)


if __name__ == "__main__":
    main()
