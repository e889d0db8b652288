"""Makes the icon namer's network again: `make icon-namer`.

It fetches the sets of `sets.toml` from npm, draws them, trains a small network for the names of `vocabulary.toml`, and
writes `icons.onnx` and `names.txt` beside `vision_agent/vision/icons/namer.py`. It needs the packages of the group
`icons` in `pyproject.toml`, which the product does not. Its seeds are fixed; the order of additions in the processor is
not, so that another network comes out a little different. `make bench-icons` measures what came out.
"""

from __future__ import annotations

import sys
import time
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

OUT = Path(__file__).parents[2] / "vision_agent" / "vision" / "icons"
TIMES, MOST_OF_ONE, OTHERS_TIMES, NO_ICONS = 4, 12, 1, 5000
EPOCHS, BATCH, RATE, SMOOTHING = 9, 256, 4e-3, 0.05
CHANNELS = (16, 48, 96)
HIDDEN = 192

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
    flat = CHANNELS[-1] * (SIDE // 8) ** 2
    sizes = [(9 * came, gone) for came, gone in pairwise((1, *CHANNELS))] + [(flat, HIDDEN), (HIDDEN, count)]
    found = {}
    for layer, (came, gone) in enumerate(sizes):
        found[f"w{layer}"] = random.normal(0, np.sqrt((2 if layer < 4 else 1) / came), (came, gone))
        found[f"b{layer}"] = np.zeros(gone)
        if layer < 4:
            found[f"g{layer}"] = np.ones(gone)
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def answers(p: Parameters, x: Any, dropped: Any) -> tuple[Any, dict[str, Any]]:
    """The logits of a batch of glyphs, 0 to 1, and the mean and variance of each layer.

    Three convolutions of stride 2 and two layers, each but the last normalised over the batch.
    """
    x, seen = x[..., None], {}

    def normalised(x: Any, layer: int) -> Any:
        axes = tuple(range(x.ndim - 1))
        mean, square = x.mean(axes), (x * x).mean(axes)
        seen[f"m{layer}"], seen[f"v{layer}"] = mean, square - mean * mean
        scale = p[f"g{layer}"] / jnp.sqrt(seen[f"v{layer}"] + _EPSILON)
        return jax.nn.relu(x * scale + (p[f"b{layer}"] - mean * scale))

    for layer in range(3):
        x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        size = (x.shape[1] - 2) // 2
        near = [x[:, dy : dy + 2 * size : 2, dx : dx + 2 * size : 2] for dy in range(3) for dx in range(3)]
        x = normalised(jnp.concatenate(near, -1) @ p[f"w{layer}"], layer)
    x = normalised(x.reshape(len(x), -1) @ p["w3"], 3) * dropped
    return x @ p["w4"] + p["b4"], seen


def folded(p: Parameters, seen: dict[str, Any]) -> Parameters:
    """The same network with the normalisation in its weights."""
    found = {"w4": np.asarray(p["w4"]), "b4": np.asarray(p["b4"])}
    for layer in range(4):
        mean, variance = (np.asarray(seen[f"{kind}{layer}"]) for kind in "mv")
        scale = np.asarray(p[f"g{layer}"]) / np.sqrt(variance + _EPSILON)
        found[f"w{layer}"] = np.asarray(p[f"w{layer}"]) * scale
        found[f"b{layer}"] = np.asarray(p[f"b{layer}"]) - mean * scale
    return found


def train(glyphs: np.ndarray, labels: np.ndarray, count: int) -> None:
    """Writes the network after each epoch; Adam, with a rate that falls to nothing."""
    random = np.random.default_rng(1)
    p = begun(count, 2)
    state = jax.tree.map(lambda each: (jnp.zeros_like(each), jnp.zeros_like(each)), p)
    usual: dict[str, Any] = {}
    steps = EPOCHS * (len(glyphs) // BATCH)

    def loss(p: Parameters, x: Any, y: Any, dropped: Any) -> tuple[Any, dict[str, Any]]:
        logits, seen = answers(p, x, dropped)
        said = jax.nn.log_softmax(logits)
        right = jnp.take_along_axis(said, y[:, None], 1)[:, 0]
        return -jnp.mean((1 - SMOOTHING) * right + SMOOTHING * said.mean(1)), seen

    @jax.jit
    def step(p: Parameters, state: Any, x: Any, y: Any, dropped: Any, at: Any) -> Any:
        (value, seen), slope = jax.value_and_grad(loss, has_aux=True)(p, x.astype(jnp.float32) / 255, y, dropped)
        rate = RATE * jnp.minimum(1, at / 100) * 0.5 * (1 + jnp.cos(jnp.pi * at / steps))
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
    for epoch in range(EPOCHS):
        began, values = time.process_time(), []
        order = random.permutation(len(glyphs))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            at += 1
            x = np.roll(glyphs[chosen], tuple(random.integers(-1, 2, 2)), (1, 2))
            dropped = (random.random((BATCH, HIDDEN)) < 0.8).astype(np.float32) / 0.8
            p, state, value, seen = step(p, state, x, labels[chosen], dropped, jnp.float32(at))
            usual = seen if at == 1 else {name: 0.98 * usual[name] + 0.02 * seen[name] for name in seen}
            values.append(value)
        loss_now = np.mean([float(each) for each in values])
        print(f"epoch {epoch + 1}: loss {loss_now:.3f}, {time.process_time() - began:.0f} s", flush=True)
        write(folded(p, usual))


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

    came = "glyphs"
    for layer in range(3):
        w = np.asarray(p[f"w{layer}"])
        w = w.reshape(3, 3, -1, w.shape[1]).transpose(3, 2, 0, 1)
        ins = [came, weight(f"w{layer}", w), weight(f"b{layer}", np.asarray(p[f"b{layer}"]))]
        nodes.append(
            helper.make_node("Conv", ins, [f"c{layer}"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        )
        came = f"r{layer}"
        nodes.append(helper.make_node("Relu", [f"c{layer}"], [came]))
    # The training has channels last, ONNX has them first.
    side = SIDE // 8
    w3 = np.asarray(p["w3"]).reshape(side, side, CHANNELS[-1], HIDDEN).transpose(2, 0, 1, 3).reshape(-1, HIDDEN)
    nodes.append(helper.make_node("Flatten", [came], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat", weight("w3", w3), weight("b3", np.asarray(p["b3"]))], ["c3"]))
    nodes.append(helper.make_node("Relu", ["c3"], ["r3"]))
    nodes.append(
        helper.make_node("Gemm", ["r3", weight("w4", np.asarray(p["w4"])), weight("b4", np.asarray(p["b4"]))], ["c4"])
    )
    nodes.append(helper.make_node("Softmax", ["c4"], ["sure"], axis=1))
    shape = helper.make_tensor_value_info("glyphs", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])
    out = helper.make_tensor_value_info("sure", TensorProto.FLOAT, ["n", int(np.asarray(p["b4"]).shape[0])])
    graph = helper.make_graph(nodes, "icons", [shape], [out], weights)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="vision-agent"
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def main() -> None:
    """Writes the network and its names."""
    cv2.setNumThreads(1)
    file = CACHE / "samples.npz"
    if "--keep-samples" in sys.argv and file.exists():
        glyphs, labels = np.load(file).values()
    else:
        glyphs, labels = samples(0)
        np.savez(file, glyphs=glyphs, labels=labels)
    print(f"{len(glyphs)} glyphs, {np.mean(labels == 0):.0%} without a name, {time.process_time():.0f} s", flush=True)
    train(glyphs, labels, len(icon_sets.names()) + 1)


if __name__ == "__main__":
    main()
