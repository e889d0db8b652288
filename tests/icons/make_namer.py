"""Makes the icon namer's network again: `make icon-namer`.

It fetches the sets of `sets.toml` from npm, draws them, trains a small network for the names of `vocabulary.toml`, and
writes `icons.onnx` and `names.txt` beside `vision_agent/vision/icons/namer.py`. It needs the packages of the group
`icons` in `pyproject.toml`, which the product does not. Its seeds are fixed; the order of additions in the processor is
not, so that another network comes out a little different. `make bench-icons` measures what came out.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import cv2
import keras
import numpy as np
import onnx
from keras import layers
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parent))
import icon_sets
from crops import no_icons, picture_of, repeated
from icon_sets import CACHE, Drawing

from vision_agent.vision.icons.glyph import SIDE, glyphs_in

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "vision_agent" / "vision" / "icons"
TIMES, MOST_OF_ONE, OTHERS_TIMES, NO_ICONS = 3, 9, 2, 5000
EPOCHS, BATCH, RATE, DECAY, SMOOTHING, DROPPED = 12, 512, 4e-3, 2e-2, 0.05, 0.2
CONVOLUTIONS = ((32, 2), (64, 2), (64, 1), (128, 2), (128, 1))
"""Channels and stride of each; one of stride 1 adds its answer to what it was given."""
HIDDEN = 192


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


class Lessons(keras.utils.PyDataset):
    """The glyphs in batches, drawn anew each time, and the answers wanted: one of each row is 1."""

    def __init__(self, glyphs: np.ndarray, labels: np.ndarray, seed: int) -> None:
        super().__init__()
        self._glyphs, self._wanted = glyphs, np.eye(labels.max() + 1, dtype=np.float32)[labels]
        self._random = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self) -> int:
        return len(self._glyphs) // BATCH

    def __getitem__(self, at: int) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._order[at * BATCH : (at + 1) * BATCH]
        drawn = np.stack([redrawn(each, self._random) for each in self._glyphs[chosen]])
        return drawn[..., None].astype(np.float32) / 255, self._wanted[chosen]

    def on_epoch_end(self) -> None:
        self._order = self._random.permutation(len(self._glyphs))


def untrained(count: int) -> keras.Model:
    """A network for `count` answers: convolutions and two layers, each but the last normalised over the batch."""
    x = glyphs = keras.Input((SIDE, SIDE, 1))
    for channels, stride in CONVOLUTIONS:
        convolved = normalised(layers.Conv2D(channels, 3, stride, "same", use_bias=False)(x))
        x = layers.ReLU()(convolved + x if stride == 1 else convolved)
    x = layers.ReLU()(normalised(layers.Dense(HIDDEN, use_bias=False)(layers.Flatten()(x))))
    return keras.Model(glyphs, layers.Dense(count, dtype="float32")(layers.Dropout(DROPPED)(x)))


def normalised(x: Any) -> Any:
    """What a layer answers, with the mean and the variance that the next one expects."""
    return layers.BatchNormalization(momentum=0.98)(x)


def trained(lessons: Lessons, count: int) -> keras.Model:
    """The network after all epochs; its weights are the mean of the last ones."""
    keras.utils.set_random_seed(2)
    # Where the processor can, in half the bits: a third of the time.
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    steps = EPOCHS * len(lessons)
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps - 300, warmup_target=RATE, warmup_steps=300)
    optimizer = keras.optimizers.AdamW(rate, weight_decay=DECAY, beta_2=0.99, use_ema=True, ema_momentum=0.998)
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    network = untrained(count)
    network.compile(
        optimizer, keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=SMOOTHING), jit_compile=False
    )
    network.fit(lessons, epochs=EPOCHS, verbose=2)
    return network


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


def as_onnx(network: keras.Model) -> bytes:
    """The network as a file of ONNX, for one or more glyphs: `glyphs` N×1×32×32 of 0 to 1, `sure` N×names.

    Its normalisation is in its weights. Keras has channels last, ONNX has them first.
    """
    nodes, weights = [], []

    def weight(name: str, value: np.ndarray) -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def node(kind: str, ins: Sequence[str], out: str, **settings: Any) -> str:
        nodes.append(helper.make_node(kind, [*ins], [out], **settings))
        return out

    *convolved, hidden, last = [each for each in network.layers if isinstance(each, layers.Conv2D | layers.Dense)]
    normalisations = [each for each in network.layers if isinstance(each, layers.BatchNormalization)]
    folded = [
        _folded(np.asarray(each.kernel), by) for each, by in zip([*convolved, hidden], normalisations, strict=True)
    ]
    came = "glyphs"
    for at, ((_, stride), (kernel, bias)) in enumerate(zip(CONVOLUTIONS, folded[:-1], strict=True)):
        ins = [came, weight(f"w{at}", kernel.transpose(3, 2, 0, 1)), weight(f"b{at}", bias)]
        # Of stride 2, Keras has its one line of padding after the picture.
        pads = [1, 1, 1, 1] if stride == 1 else [0, 0, 1, 1]
        gone = node("Conv", ins, f"c{at}", kernel_shape=[3, 3], strides=[stride, stride], pads=pads)
        if stride == 1:
            gone = node("Add", [gone, came], f"a{at}")
        came = node("Relu", [gone], f"r{at}")
    kernel, bias = folded[-1]
    channels = CONVOLUTIONS[-1][0]
    side = round((len(kernel) / channels) ** 0.5)
    flat = kernel.reshape(side, side, channels, HIDDEN).transpose(2, 0, 1, 3).reshape(-1, HIDDEN)
    node("Flatten", [came], "flat")
    node("Gemm", ["flat", weight("flat_w", flat), weight("flat_b", bias)], "hidden")
    node("Relu", ["hidden"], "shown")
    answers = [weight("last_w", np.asarray(last.kernel)), weight("last_b", np.asarray(last.bias))]
    node("Gemm", ["shown", *answers], "logits")
    node("Softmax", ["logits"], "sure", axis=1)
    shape = helper.make_tensor_value_info("glyphs", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])
    out = helper.make_tensor_value_info("sure", TensorProto.FLOAT, ["n", last.units])
    graph = helper.make_graph(nodes, "icons", [shape], [out], weights)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="vision-agent"
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _folded(kernel: np.ndarray, by: Any) -> tuple[np.ndarray, np.ndarray]:
    """The weights and the bias of a layer with its normalisation."""
    gamma, beta, mean, variance = (np.asarray(each) for each in by.get_weights())
    scale = gamma / np.sqrt(variance + by.epsilon)
    return kernel * scale, beta - mean * scale


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


def main() -> None:
    """Writes the network and its names."""
    cv2.setNumThreads(1)
    glyphs, labels = crops(0)
    names = icon_sets.names()
    network = trained(Lessons(glyphs, labels, 1), len(names) + 1)
    (OUT / "icons.onnx").write_bytes(as_onnx(network))
    (OUT / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
