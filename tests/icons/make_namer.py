"""Makes the icon namer's network again: `make icon-namer`.

It fetches the sets of `sets.toml` from npm, draws them, trains a small network for the names of `vocabulary.toml`, and
writes `icons.onnx` and `names.txt` beside `vision_agent/vision/icons/namer.py`. It needs the packages of the group
`icons` in `pyproject.toml`, which the product does not. Its seeds are fixed; the order of additions in the processor is
not, so that another network comes out a little different. `make bench-icons` measures what came out.
"""

from __future__ import annotations

import hashlib
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

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "vision_agent" / "vision" / "icons"
TIMES, MOST_OF_ONE, OTHERS_TIMES, NO_ICONS = 4, 12, 1, 5000
EPOCHS, BATCH, RATE, SMOOTHING = 9, 256, 4e-3, 0.05
FURTHER_EPOCHS, FURTHER_RATE, OF_SECOND = 3, 1.2e-3, 0.35
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
        if f"g{layer}" not in p:
            return jax.nn.relu(x + p[f"b{layer}"])
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
    if "g0" not in p:
        return {name: np.asarray(value) for name, value in p.items()}
    found = {"w4": np.asarray(p["w4"]), "b4": np.asarray(p["b4"])}
    for layer in range(4):
        mean, variance = (np.asarray(seen[f"{kind}{layer}"]) for kind in "mv")
        scale = np.asarray(p[f"g{layer}"]) / np.sqrt(variance + _EPSILON)
        found[f"w{layer}"] = np.asarray(p[f"w{layer}"]) * scale
        found[f"b{layer}"] = np.asarray(p[f"b{layer}"]) - mean * scale
    return found


def train(p: Parameters, glyphs: np.ndarray, labels: np.ndarray, epochs: int, highest: float, seed: int) -> Parameters:
    """The network after these epochs, written after each of them; Adam, with a rate that falls to nothing."""
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
        loss_now = np.mean([float(each) for each in values])
        print(f"epoch {epoch + 1}: loss {loss_now:.3f}, {time.process_time() - began:.0f} s", flush=True)
        write(folded(p, usual))
    return folded(p, usual)


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


def crops(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples of a seed, kept for a second try."""
    file = CACHE / f"samples-{seed}-{hashlib.sha256((HERE / 'vocabulary.toml').read_bytes()).hexdigest()[:8]}.npz"
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
    side = SIDE // 8
    for layer in range(3):
        found[f"w{layer}"] = found[f"w{layer}"].transpose(2, 3, 1, 0).reshape(-1, CHANNELS[layer])
    found["w3"] = found["w3"].reshape(CHANNELS[-1], side, side, HIDDEN).transpose(1, 2, 0, 3).reshape(-1, HIDDEN)
    return {name: jnp.asarray(value) for name, value in found.items()}


def main() -> None:
    """Writes the network and its names. With `--further` only the second part is done, on what is there."""
    cv2.setNumThreads(1)
    if "--further" in sys.argv:
        first = from_onnx()
    else:
        first = train(begun(len(icon_sets.names()) + 1, 2), *crops(0), EPOCHS, RATE, 1)
    # Normalised no more, on other crops. Between the two networks lies a better one than either.
    first = {name: jnp.asarray(value) for name, value in first.items()}
    second = train(first, *crops(1), FURTHER_EPOCHS, FURTHER_RATE, 3)
    write({name: np.asarray((1 - OF_SECOND) * first[name] + OF_SECOND * second[name]) for name in first})


if __name__ == "__main__":
    main()
